import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listenForPokes } from '../../support/poke-reader.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { pokeState } from './poked-clients.js';

const count = 300;

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

/** Opens a connection for each request, because `fetch` reconnects after an aborted stream, for future requests. */
async function send(path: string, { headers, signal }: RequestInit): Promise<Response> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers: headers as Record<string, string>, signal: signal!, agent: false };
    get(server.url + path, options, resolve).once('error', reject);
  });
  return new Response(Readable.toWeb(response) as ReadableStream<Uint8Array>, { status: response.statusCode! });
}

/** The number of sockets in this process, which has both ends of each connection. */
const sockets = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

const openAll = () =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      listenForPokes(send, {
        user: i % 2 ? 'ann' : 'ben',
        clientGroupID: `group ${i}`,
      }),
    ),
  );

it.each([1, 2])('hundreds of streams are poked and leave nothing behind, round %d', async (round) => {
  expect(await pokeState(server)).toEqual({ subscribers: 0, lagMs: null });
  const before = sockets();
  const readers = await openAll();
  await Promise.all(readers.map((reader) => reader.poked(1)));
  expect(sockets()).toBeGreaterThan(before + count);
  expect(await pokeState(server)).toEqual({ subscribers: count, lagMs: expect.any(Number) });
  for (const owner of ['ann', 'ben']) {
    await server.pool.query('insert into list (id, owner_id, name) values ($1, $2, $2)', [`${owner} ${round}`, owner]);
  }
  await Promise.all(readers.map((reader) => reader.poked(2)));
  for (const reader of readers) reader.close();
  await vi.waitFor(async () => expect(await pokeState(server)).toEqual({ subscribers: 0, lagMs: null }), 5_000);
  await Promise.all(readers.map((reader) => reader.ended));
  // Connections to the database may have opened or closed.
  await vi.waitFor(() => expect(sockets()).toBeLessThan(before + 10), 5_000);
  const ends = () =>
    server.lines.filter(({ fields }) => fields.path === '/sync/poke').map(({ fields }) => fields.outcome);
  await vi.waitFor(() => expect(ends()).toEqual(Array(round * count).fill('cancelled')));
  expect(readers.map((reader) => reader.pokes())).toEqual(Array(count).fill(2));
});
