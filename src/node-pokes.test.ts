/** Streams of pokes on Node's HTTP server. */
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type ListenerOptions, setUpPokes } from '../test/integration/endpoints/poke-listeners.js';
import { collectGarbage } from '../test/support/garbage.js';
import { memoryLog } from '../test/support/log.js';
import { listen } from './node.js';

/** What is held in memory, without what waits to be collected. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function serve(options: ListenerOptions = {}) {
  const { app, pokes, ...rest } = setUpPokes(options);
  const listening = await listen(
    { fetch: app.fetch, drain: () => pokes.close(), close: async () => {} },
    { log: memoryLog().log, port: 0, hostname: '127.0.0.1', signals: false },
  );
  onTestFinished(listening.close);
  return { ...rest, ...listening };
}

/** A connection that has asked for pokes, and reads nothing until it is told to. */
async function ask(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.pause();
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write('GET /sync/poke?clientGroupID=g&profileID=p HTTP/1.1\r\nHost: x\r\n\r\n');
  return { socket, text: () => text };
}

it('close ends the streams at once', async () => {
  const { url, close, listeners, ends } = await serve();
  const responses = await Promise.all([1, 2, 3].map(() => fetch(`${url}/sync/poke?clientGroupID=g&profileID=p`)));
  expect(listeners.size).toBe(3);
  const texts = Promise.all(responses.map((response) => response.text()));
  const started = performance.now();
  await close();
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(ends()).toEqual(Array(3).fill('complete'));
  for (const text of await texts) expect(text).toMatch(/^retry: \d+\n\ndata: poke\n\n$/);
});

it('a client that goes away is let go, though nothing is sent', async () => {
  const { url, listeners, ends } = await serve();
  const { socket, text } = await ask(url);
  socket.resume();
  await vi.waitFor(() => expect(text()).toContain('data: poke'));
  expect(listeners.size).toBe(1);
  socket.destroy();
  await vi.waitFor(() => expect(listeners.size).toBe(0));
  expect(ends()).toEqual(['cancelled']);
});

it('a client that goes away before it listens is let go when it does', async () => {
  let listenNow = () => {};
  const listening = new Promise<void>((resolve) => {
    listenNow = resolve;
  });
  const before = vi.fn(() => listening);
  const { url, asked, listeners, ends } = await serve({ before });
  const { socket } = await ask(url);
  await vi.waitFor(() => expect(before).toHaveBeenCalled());
  socket.destroy();
  await new Promise((resolve) => socket.once('close', resolve));
  listenNow();
  await vi.waitFor(() => expect(ends()).toEqual(['cancelled']));
  expect(asked).toHaveLength(1);
  expect(listeners.size).toBe(0);
});

it('a client that never reads is dropped when the network holds no more for it', async () => {
  const { url, poke, listeners, ends } = await serve();
  const [reader, ...sleepers] = await Promise.all([ask(url), ask(url), ask(url)]);
  reader.socket.resume();
  await vi.waitFor(() => expect(listeners.size).toBe(1 + sleepers.length));
  const before = heldBytes();
  let pokes = 0;
  for (; listeners.size > 1 && pokes < 2_000_000; pokes++) {
    poke();
    if (pokes % 100 === 0) await turn();
  }
  expect(ends()).toEqual(['dropped', 'dropped']);
  expect(heldBytes() - before).toBeLessThan(32 * 2 ** 20);
  // Who reads has every poke, the first included.
  await vi.waitFor(() => expect(reader.text().match(/^data: poke$/gm)).toHaveLength(1 + pokes));
});
