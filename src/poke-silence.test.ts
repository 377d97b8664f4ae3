/** A stream of pokes on which nothing comes any more, with the clock in the test's hands. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectPokes } from './poke.js';

interface Attempt {
  readonly signal: AbortSignal;
  readonly credentials: RequestCredentials;
  say(text: string): void;
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
        attempts.push({ signal, credentials, say: (text) => controller.enqueue(Buffer.from(text)) });
        signal.addEventListener('abort', () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  });
  stop = connectPokes(rep);
  await settle();
});

afterEach(() => {
  stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Lets everything go on that waits for nothing. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(seconds: number): Promise<void> {
  vi.advanceTimersByTime(1_000 * seconds);
  await settle();
}

it('is kept as long as something comes, be it nothing to pull for', async () => {
  for (let i = 0; i < 20; i++) {
    await pass(15);
    attempts[0]!.say(':\n\n');
    await settle();
  }
  expect(attempts).toHaveLength(1);
  expect(attempts[0]!.signal.aborted).toBe(false);
});

it('is given up after 40 seconds without a beginning', async () => {
  await pass(39);
  expect(attempts[0]!.signal.aborted).toBe(false);
  await pass(2);
  expect(attempts[0]!.signal.aborted).toBe(true);
});

it('is given up after 40 seconds of silence, and another one is opened', async () => {
  attempts[0]!.say('retry: 1000\n\ndata: poke\n\n');
  await settle();
  await pass(39);
  expect(attempts[0]!.signal.aborted).toBe(false);
  await pass(2);
  expect(attempts[0]!.signal.aborted).toBe(true);
  await pass(5);
  expect(attempts).toHaveLength(2);
  expect(pull).toHaveBeenCalledOnce();
});

it('is asked for with the credentials that the application names', async () => {
  expect(attempts[0]!.credentials).toBe('same-origin');
  stop();
  stop = connectPokes(rep, { credentials: 'include' });
  await settle();
  expect(attempts[1]!.credentials).toBe('include');
});
