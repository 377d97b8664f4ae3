/** Pipelined requests over connections whose responses the client may not read. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Service, Serving, startListening } from '../../packages/tidemark/src/serving.js';
import { silent } from '../support/log.js';
import { startServer } from './conformance/server.js';

const MiB = 1024 * 1024;

let serving: Serving;
let port: number;
/** The paths of the requests that the service has begun to handle. */
let startedPaths: string[];
/** The number of requests that Node has parsed. */
let parsedCount: number;
let fetch: Service['fetch'];
const sockets: Socket[] = [];

beforeEach(async () => {
  [startedPaths, parsedCount] = [[], 0];
  fetch = async () => new Response('answer');
  const service: Service = {
    fetch: (request) => {
      startedPaths.push(new URL(request.url).pathname);
      return fetch(request);
    },
    close: async () => {},
  };
  serving = new Serving(service, { log: silent, drainMs: 100 });
  serving.server.on('request', () => parsedCount++);
  port = Number(new URL(await startListening(serving.server, 0, '127.0.0.1')).port);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving.stop();
});

function open(toPort = port): Socket {
  const socket = connect(toPort, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  return socket;
}

const requestFor = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const requestsFor = (count: number, name: string, more = '') =>
  Array.from({ length: count }, (_, i) => requestFor(`/${name}/${i}`, more)).join('');
const pathsOf = (count: number, name: string) => Array.from({ length: count }, (_, i) => `/${name}/${i}`);

/** Reads until this many responses have arrived. */
async function answersOf(socket: Socket, count: number, pattern = /HTTP\/1\.1 200 OK/g): Promise<string> {
  let text = '';
  for await (const piece of socket) {
    text += piece;
    if ((text.match(pattern)?.length ?? 0) >= count) return text;
  }
  throw new Error(`The connection ended after ${text.length} bytes`);
}

/** Sends requests one after another over another connection. */
async function sendOthers(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const socket = open();
    socket.write(requestFor('/other'));
    await answersOf(socket, 1);
    socket.destroy();
  }
}

it('answers pipelined requests in order, one at a time', async () => {
  let [running, max] = [0, 0];
  fetch = async () => {
    max = Math.max(max, ++running);
    await nextRound();
    running--;
    return new Response('answer');
  };
  const socket = open();
  socket.write(requestsFor(500, 'ahead'));
  await answersOf(socket, 500);
  expect(startedPaths).toEqual(pathsOf(500, 'ahead'));
  expect(max).toBe(1);
});

it('starts no further request of a connection that does not read its responses', async () => {
  fetch = async ({ url }) => new Response(url.includes('/large') ? 'x'.repeat(32 * MiB) : 'answer');
  const socket = open();
  socket.pause().write(requestsFor(3, 'large'));
  await vi.waitFor(() => expect(startedPaths).toHaveLength(1));
  await sendOthers(20);
  expect(startedPaths.filter((path) => path.startsWith('/large'))).toEqual(['/large/0']);
  let bytes = 0;
  for await (const piece of socket) {
    bytes += (piece as Buffer).length;
    if (bytes > 3 * 32 * MiB) break;
  }
  expect(startedPaths.filter((path) => path.startsWith('/large'))).toEqual(pathsOf(3, 'large'));
}, 60_000);

it('reads and parses few pipelined requests before their turn', async () => {
  let answer = () => {};
  const pause = new Promise<void>((resolve) => {
    answer = resolve;
  });
  fetch = async ({ url }) => {
    if (url.endsWith('/ahead/0')) await pause;
    return new Response('answer');
  };
  const accepted = once(serving.server, 'connection');
  const socket = open();
  const [end] = (await accepted) as [Socket];
  socket.write(requestsFor(1_500, 'ahead', `X-Padding: ${'x'.repeat(500)}\r\n`));
  await vi.waitFor(() => expect(startedPaths).toHaveLength(1));
  await sendOthers(20);
  expect(parsedCount - 20).toBeLessThan(100);
  expect(end.bytesRead).toBeLessThan(MiB / 4);
  answer();
  await answersOf(socket, 1_500);
  expect(startedPaths.filter((path) => path !== '/other')).toEqual(pathsOf(1_500, 'ahead'));
}, 60_000);

it('starts requests of other connections between pipelined ones', async () => {
  const floods = Array.from({ length: 20 }, () => open());
  await Promise.all(floods.map((socket) => once(socket, 'connect')));
  for (const socket of floods) socket.write(requestsFor(500, 'ahead'));
  await vi.waitFor(() => expect(startedPaths.length).toBeGreaterThan(0));
  await sendOthers(1);
  expect(startedPaths.indexOf('/other')).toBeLessThan(5_000);
  await Promise.all(floods.map((socket) => answersOf(socket, 500)));
  expect(startedPaths).toHaveLength(10_001);
}, 60_000);

it('starts only the first pipelined request of a connection while the server stops', async () => {
  serving.announceEnd();
  const socket = open();
  socket.write(requestsFor(10, 'ahead'));
  let text = '';
  for await (const piece of socket) text += piece;
  expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1);
  expect(startedPaths).toEqual(['/ahead/0']);
});

it('reads the bodies of pipelined requests, of any size and even if the handler reads them late', async () => {
  const sizes = [3 * MiB, 0, 10, 100_000, 5_000];
  const read: number[] = [];
  fetch = async (request) => {
    await nextRound();
    read.push((await request.arrayBuffer()).byteLength);
    return new Response('answer');
  };
  const socket = open();
  const heads = sizes.map((size) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`);
  socket.write(heads.join(''));
  await answersOf(socket, sizes.length);
  expect(read).toEqual(sizes);
});

it('passes on everything that was sent with an upgrade request', async () => {
  serving.server.on('upgrade', (_, socket, head) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n${head}`);
    socket.pipe(socket);
  });
  const socket = open();
  const sent = Array.from({ length: 5_000 }, (_, i) => `word ${i} `).join('');
  socket.write(requestFor('/', 'Connection: Upgrade\r\nUpgrade: echo\r\n') + sent);
  const text = await answersOf(socket, 1, /word 4999 /g);
  expect(text.split('\r\n\r\n')[1]).toBe(sent);
});

it('takes a stream permit only for the current request of a connection, and releases it', async () => {
  const server = await startServer({ pokes: { maxStreamsPerUser: 3 }, authenticate: () => ({ userID: 'ann' }) });
  try {
    const openStream = async (count: number) => {
      const socket = open(Number(new URL(server.url).port));
      socket.write(requestFor('/sync/poke?clientGroupID=g&profileID=p').repeat(count));
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(String(head)).toMatch(/^HTTP\/1\.1 200 OK/);
      return socket;
    };
    const streams = [await openStream(100), await openStream(100), await openStream(100)];
    for (const socket of streams) socket.destroy();
    await vi.waitFor(async () => {
      for (const socket of await Promise.all([openStream(1), openStream(1), openStream(1)])) socket.destroy();
    });
  } finally {
    await server.close();
  }
});
