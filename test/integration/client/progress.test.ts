/** `status.progress`: how much of a first answer has arrived. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../packages/client/src/index.js';

it('the status shows how much of the first answer has arrived, and nothing of later ones', async () => {
  const pulls: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url!.startsWith('/sync/pull')) pulls.push(response);
    else response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ user: 'ann', url, kvStore: 'mem', pullInterval: null });
  onTestFinished(() => client.close());
  const { status } = client;
  status.subscribe(() => {});
  await expect.poll(() => pulls.length).toBe(1);
  expect(status.get().progress).toBeNull();
  const value = { id: 'a', title: 'Milk'.repeat(50_000) };
  const body = Buffer.from(
    JSON.stringify({
      cookie: { order: 1 },
      lastMutationIDChanges: {},
      patch: [{ op: 'clear' }, { op: 'put', key: 'a', value }],
    }),
  );
  pulls[0]!.writeHead(200, { 'Content-Type': 'application/json' }).write(body.subarray(0, 100_000));
  await expect.poll(() => status.get().progress).toEqual({ bytes: 100_000 });
  pulls[0]!.write(body.subarray(100_000, 150_000));
  await expect.poll(() => status.get().progress).toEqual({ bytes: 150_000 });
  pulls[0]!.end(body.subarray(150_000));
  await expect.poll(() => status.get()).toMatchObject({ state: 'online', progress: null });
  const pulled = client.pull();
  await expect.poll(() => pulls.length).toBe(2);
  const later: unknown[] = [];
  status.subscribe(({ progress }) => later.push(progress));
  pulls[1]!.writeHead(200).write(`{"cookie":{"order":2},${' '.repeat(100_000)}`);
  pulls[1]!.end('"lastMutationIDChanges":{},"patch":[]}');
  await pulled;
  expect(later.filter((progress) => progress !== null)).toEqual([]);
});
