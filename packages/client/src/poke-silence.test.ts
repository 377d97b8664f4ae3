/** Streams of pokes that fall silent, tested with fake timers. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectPokes } from './poke.js';

interface Attempt {
  readonly signal: AbortSignal;
  readonly credentials: RequestCredentials;
  send(text: string): void;
}

const rep = {
  clientGroupID: Promise.resolve('g'),
  profileID: Promise.resolve('p'),
  schemaVersion: '',
  auth: '',
  pull: () => pull(),
};
let attempts: Attempt[];
let stop: () => void;
const pull = vi.fn();

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  attempts = [];
  vi.stubGlobal('fetch', async (_: string, { signal, credentials }: Attempt) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        attempts.push({ signal, credentials, send: (text) => controller.enqueue(Buffer.from(text)) });
        signal.addEventListener('abort', () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  });
  stop = connectPokes(rep);
  await flush();
});

afterEach(() => {
  stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Runs all pending work that does not wait for a timer. */
async function flush(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(seconds: number): Promise<void> {
  vi.advanceTimersByTime(1_000 * seconds);
  await flush();
}

it('keeps a stream open while anything arrives, even only comments', async () => {
  for (let i = 0; i < 20; i++) {
    await pass(15);
    attempts[0]!.send(':\n\n');
    await flush();
  }
  expect(attempts).toHaveLength(1);
  expect(attempts[0]!.signal.aborted).toBe(false);
});

it('aborts a stream that has not begun after 40 seconds', async () => {
  await pass(39);
  expect(attempts[0]!.signal.aborted).toBe(false);
  await pass(2);
  expect(attempts[0]!.signal.aborted).toBe(true);
});

it('replaces a stream after 40 seconds of silence', async () => {
  attempts[0]!.send('retry: 1000\n\ndata: poke\n\n');
  await flush();
  await pass(39);
  expect(attempts[0]!.signal.aborted).toBe(false);
  await pass(2);
  expect(attempts[0]!.signal.aborted).toBe(true);
  await pass(5);
  expect(attempts).toHaveLength(2);
  expect(pull).toHaveBeenCalledOnce();
});

it('requests a stream with the credentials mode of the options', async () => {
  expect(attempts[0]!.credentials).toBe('same-origin');
  stop();
  stop = connectPokes(rep, { credentials: 'include' });
  await flush();
  expect(attempts[1]!.credentials).toBe('include');
});
