/** Requests that get no response, or half of one, on a connection that nobody resets. */
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TasksClient } from './application.js';
import { useApplication } from './application.js';

vi.spyOn(console, 'error').mockImplementation(() => {});

const application = useApplication();

type Behaviour = 'forward' | 'swallow' | 'halve' | 'trickle';
let behave: (path: string) => Behaviour;
let proxy: Server;
let url: string;
beforeEach(async () => {
  behave = () => 'forward';
  proxy = createServer(pass).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterEach(() => {
  proxy.closeAllConnections();
  proxy.close();
});

function pass(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url!;
  const behaviour = behave(path);
  if (behaviour === 'swallow') return void request.resume();
  const { method, headers } = request;
  const { 'accept-encoding': _, ...rest } = headers;
  const onward = forward(`${application.server.url}${path}`, { method, headers: rest }, async (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    if (behaviour === 'forward') return void answer.pipe(response);
    const body = (await answer.toArray()).join('');
    const parts = behaviour === 'halve' ? [body.slice(0, body.length / 2)] : body.match(/[\s\S]{1,20}/g)!;
    for (const part of parts) {
      response.write(part);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (behaviour === 'trickle') response.end();
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

/** A client of Ann's with short limits. */
function open(): TasksClient {
  return application.open({ url }, { requests: { maxHeadersMs: 1000, maxSilenceMs: 500 } }).client;
}

it.each<[kind: string, Behaviour, path: string]>([
  ['a pull that gets no response', 'swallow', '/sync/pull'],
  ['half of a pull', 'halve', '/sync/pull'],
  ['a push that gets no response', 'swallow', '/sync/push'],
  ['half of a push', 'halve', '/sync/push'],
])('%s is given up and sent again, and the status says so', async (_, behaviour, stuck) => {
  const ann = open();
  await expect.poll(() => ann.status.get().state).toBe('online');
  behave = (path) => (path.startsWith(stuck) ? behaviour : 'forward');
  await ann.mutate.list.create({ id: 'a', name: 'Mine' });
  ann.pull().catch(() => {});
  await expect.poll(() => ann.status.get().state, { timeout: 5000 }).toBe('offline');
  expect(ann.status.get().error).toMatchObject({ code: 'timeout', message: /in time/ });
  behave = () => 'forward';
  await expect.poll(() => ann.pending.get(), { timeout: 5000 }).toEqual([]);
  await expect.poll(() => ann.status.get().state).toBe('online');
  await ann.close();
});

it('a response that takes longer than any limit is read, as long as some of it comes', async () => {
  for (let i = 0; i < 4; i++) {
    await application.server.pool.query(`insert into list (id, name, owner_id) values ('${i}', 'Some list', 'ann')`);
  }
  behave = (path) => (path.startsWith('/sync/pull') ? 'trickle' : 'forward');
  const ann = open();
  const start = performance.now();
  await expect.poll(() => ann.view('list').list(), { timeout: 30_000 }).toHaveLength(4);
  expect(performance.now() - start).toBeGreaterThan(1500);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  await ann.close();
});

it('what is pending is sent as soon as the server can be reached', async () => {
  const ann = open();
  await expect.poll(() => ann.status.get().state).toBe('online');
  behave = () => 'swallow';
  await ann.mutate.list.create({ id: 'a', name: 'Mine' });
  // The engine's own waits double: 30 ms at first, then as long as this has taken so far.
  await new Promise((resolve) => setTimeout(resolve, 8000));
  expect(ann.pending.get()).toHaveLength(1);
  behave = () => 'forward';
  await ann.pull();
  await expect.poll(() => ann.pending.get(), { timeout: 2000 }).toEqual([]);
  await ann.close();
}, 20_000);
