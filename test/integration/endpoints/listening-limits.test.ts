/** One user's streams and waiting requests, opened at the same time on a real server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startServer, type TestServer } from '../conformance/server.js';

const limit = 10;
const user = { Authorization: 'Bearer ann' };

let server: TestServer;
beforeEach(async () => {
  server = await startServer({
    metrics: 'public',
    pokes: { maxStreamsPerUser: limit },
    authenticate: () => ({ userID: 'ann' }),
  });
});
afterEach(() => server.close());

async function openStreams(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^tidemark_poke_streams (\d+)/m.exec(text)?.[1]);
}

it('admits only as many streams and waiting requests of a user as allowed, of all kinds together', async () => {
  const view = `${server.url}/api/views/todo`;
  const etag = (await fetch(view, { headers: user })).headers.get('ETag')!;
  const controller = new AbortController();
  const open = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { headers: { ...user, ...headers }, signal: controller.signal });
  const statuses: number[] = [];
  const responses = Array.from({ length: 20 }, (_, i) => [
    open(`${server.url}/sync/poke?clientGroupID=g${i}&profileID=p`),
    open(view, { Accept: 'text/event-stream' }),
    open(view, { 'If-None-Match': etag, Prefer: 'wait=60' }),
  ]).flat();
  for (const one of responses) one.then(({ status }) => statuses.push(status)).catch(() => {});
  // Requests that wait for a change have no response yet.
  await vi.waitFor(
    () => expect(statuses.filter((status) => status === 429)).toHaveLength(responses.length - limit),
    20_000,
  );
  expect(statuses.filter((status) => status !== 429 && status !== 200)).toEqual([]);
  expect(await openStreams()).toBe(limit);
  controller.abort();
  await Promise.allSettled(responses);
  while ((await openStreams()) > 0) await sleep(20);
}, 60_000);
