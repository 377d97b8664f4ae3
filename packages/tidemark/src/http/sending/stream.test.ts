import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { toBody } from './stream.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { stallMs: 100, maxDurationMs: 1_000 };

/** Opens a body with an endless number of pieces, and observes how it ends. */
async function open(pieceMs = 0) {
  let isOver = false;
  const onEnd = vi.fn();
  async function* pieces() {
    try {
      for (;;) {
        if (pieceMs > 0) await sleep(pieceMs);
        yield new Uint8Array(1);
      }
    } finally {
      isOver = true;
    }
  }
  const opening = toBody(pieces(), { ended: onEnd, breakOff: () => false }, limits);
  await vi.advanceTimersByTimeAsync(pieceMs);
  return { reader: (await opening).getReader(), onEnd, isOver: () => isOver };
}

it('a client that reads nothing for too long is dropped', async () => {
  const { reader, onEnd, isOver } = await open();
  await reader.read();
  await vi.advanceTimersByTimeAsync(99);
  await reader.read();
  await vi.advanceTimersByTimeAsync(99);
  expect(onEnd).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onEnd).toHaveBeenCalledExactlyOnceWith({ outcome: 'dropped', bytes: expect.any(Number) });
  await expect(reader.read()).rejects.toThrow('The response was cut off');
  expect(isOver()).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('a client that never reads is dropped', async () => {
  const { onEnd, isOver } = await open();
  await vi.advanceTimersByTimeAsync(100);
  expect(onEnd).toHaveBeenCalledExactlyOnceWith({ outcome: 'dropped', bytes: expect.any(Number) });
  expect(isOver()).toBe(true);
});

it('a client that reads slowly is dropped at the maximum duration', async () => {
  const { reader, onEnd } = await open();
  for (let i = 0; i < 19; i++) {
    await reader.read();
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(onEnd).not.toHaveBeenCalled();
  await reader.read();
  await vi.advanceTimersByTimeAsync(50);
  expect(onEnd).toHaveBeenCalledExactlyOnceWith({ outcome: 'dropped', bytes: expect.any(Number) });
});

it('a client is not dropped if the server is slow', async () => {
  const { reader, onEnd } = await open(300);
  await reader.read();
  const second = reader.read();
  await vi.advanceTimersByTimeAsync(300);
  expect(await second).toMatchObject({ done: false });
  expect(onEnd).not.toHaveBeenCalled();
  await reader.cancel();
  expect(onEnd).toHaveBeenCalledExactlyOnceWith({ outcome: 'cancelled', bytes: 2 });
  expect(vi.getTimerCount()).toBe(0);
});
