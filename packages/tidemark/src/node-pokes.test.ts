/** Streams of pokes on Node's HTTP server. */
import { connect } from 'node:net';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type SubscriberOptions, setUpPokes } from '../../../test/integration/endpoints/poke-subscribers.js';
import { collectGarbage } from '../../../test/support/garbage.js';
import { memoryLog } from '../../../test/support/log.js';
import { listen } from './node.js';

/** The memory in use after garbage collection. */
function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function serve(options: SubscriberOptions = {}) {
  const { app, pokes, ...rest } = setUpPokes(options);
  const listening = await listen(
    { fetch: app.fetch, drain: () => pokes.close(), close: async () => {} },
    { log: memoryLog().log, port: 0, hostname: '127.0.0.1', signals: false },
  );
  onTestFinished(listening.close);
  return { ...rest, ...listening };
}

/** Opens a connection that requests pokes, and reads nothing until it is resumed. */
async function requestPokes(url: string) {
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

it('close ends all streams immediately', async () => {
  const { url, close, subscribers, ends } = await serve();
  const responses = await Promise.all([1, 2, 3].map(() => fetch(`${url}/sync/poke?clientGroupID=g&profileID=p`)));
  expect(subscribers.size).toBe(3);
  const texts = Promise.all(responses.map((response) => response.text()));
  const started = performance.now();
  await close();
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(ends()).toEqual(Array(3).fill('complete'));
  for (const text of await texts) expect(text).toMatch(/^retry: \d+\n\ndata: poke\n\n$/);
});

it('a client that disconnects is unsubscribed, even if nothing is sent to it', async () => {
  const { url, subscribers, ends } = await serve();
  const { socket, text } = await requestPokes(url);
  socket.resume();
  await vi.waitFor(() => expect(text()).toContain('data: poke'));
  expect(subscribers.size).toBe(1);
  socket.destroy();
  await vi.waitFor(() => expect(subscribers.size).toBe(0));
  expect(ends()).toEqual(['cancelled']);
});

it('a client that disconnects before it is subscribed is unsubscribed afterwards', async () => {
  let listenNow = () => {};
  const listening = new Promise<void>((resolve) => {
    listenNow = resolve;
  });
  const before = vi.fn(() => listening);
  const { url, requests, subscribers, ends } = await serve({ before });
  const { socket } = await requestPokes(url);
  await vi.waitFor(() => expect(before).toHaveBeenCalled());
  socket.destroy();
  await new Promise((resolve) => socket.once('close', resolve));
  listenNow();
  await vi.waitFor(() => expect(ends()).toEqual(['cancelled']));
  expect(requests).toHaveLength(1);
  expect(subscribers.size).toBe(0);
});

it('a client that never reads is dropped when the buffers of the network are full', async () => {
  const { url, poke, subscribers, ends } = await serve();
  const [reader, ...sleepers] = await Promise.all([requestPokes(url), requestPokes(url), requestPokes(url)]);
  reader.socket.resume();
  await vi.waitFor(() => expect(subscribers.size).toBe(1 + sleepers.length));
  const before = usedBytes();
  let pokes = 0;
  for (; subscribers.size > 1 && pokes < 2_000_000; pokes++) {
    poke();
    if (pokes % 100 === 0) await yieldToEventLoop();
  }
  expect(ends()).toEqual(['dropped', 'dropped']);
  expect(usedBytes() - before).toBeLessThan(32 * 2 ** 20);
  // The client that reads receives every poke, including the first.
  await vi.waitFor(() => expect(reader.text().match(/^data: poke$/gm)).toHaveLength(1 + pokes));
});
