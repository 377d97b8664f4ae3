import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readText, setUpPokes } from '../../../../../test/integration/endpoints/poke-subscribers.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hour = 60 * 60 * 1000;
const day = 24 * hour;

const expiringIn = (ms: number) => setUpPokes({ user: { userID: 'u', expiresAt: new Date(Date.now() + ms) } });

describe('a stream of pokes', () => {
  it('begins with a random reconnection delay and one poke', async () => {
    const { open } = setUpPokes({ limit: 1000 });
    const starts = await Promise.all(Array.from({ length: 200 }, async () => readText(await open()).next()));
    const waits = starts.map((start) => Number(/^retry: (\d+)\n\ndata: poke\n\n$/.exec(start!)?.[1]));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(3000);
    // Clients that lose their server must not all reconnect at the same time.
    expect(Math.min(...waits)).toBeLessThan(1500);
    expect(Math.max(...waits)).toBeGreaterThan(2500);
    expect(new Set(waits).size).toBeGreaterThan(100);
  });

  it('sends an event for each poke', async () => {
    const { open, poke } = setUpPokes();
    const { next } = readText(await open());
    await next();
    for (let i = 0; i < 3; i++) poke();
    expect([await next(), await next(), await next()]).toEqual(Array(3).fill('data: poke\n\n'));
  });

  it('sends a comment every 15 seconds to show that it is alive', async () => {
    const { open } = setUpPokes();
    const { next } = readText(await open());
    await next();
    let comment: string | null | undefined;
    const waiting = next().then((text) => {
      comment = text;
    });
    await vi.advanceTimersByTimeAsync(14_900);
    expect(comment).toBeUndefined();
    await vi.advanceTimersByTimeAsync(200);
    await waiting;
    expect(comment).toBe(':\n\n');
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await next()).toBe(':\n\n');
  });

  it('releases its subscriber and its timers when the client disconnects', async () => {
    const { open, poke, subscribers, ends } = setUpPokes();
    const { next, cancel } = readText(await open());
    await next();
    expect(ends()).toEqual([]);
    await cancel();
    expect(subscribers.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(ends()).toEqual(['cancelled']);
    poke();
  });

  it('is dropped when its client leaves some kilobytes unread', async () => {
    const { open, poke, subscribers, ends } = setUpPokes();
    const slow = await open();
    const { next } = readText(await open());
    await next();
    let pokes = 0;
    for (; ends().length === 0 && pokes < 10_000; pokes++) {
      poke();
      await next();
    }
    expect(pokes).toBeGreaterThan(300);
    expect(pokes).toBeLessThan(400);
    // The other client keeps reading.
    expect(subscribers.size).toBe(1);
    expect(ends()).toEqual(['dropped']);
    await expect(slow.text()).rejects.toThrow('too slowly');
  });

  it('ends within an hour, at a random time, whether its client reads or not', async () => {
    const { open, subscribers, ends } = setUpPokes({ limit: 40 });
    for (let i = 0; i < 40; i++) await open();
    await vi.advanceTimersByTimeAsync(0.89 * hour);
    expect(subscribers.size).toBe(40);
    await vi.advanceTimersByTimeAsync(0.06 * hour);
    expect(subscribers.size).toBeGreaterThan(4);
    expect(subscribers.size).toBeLessThan(36);
    await vi.advanceTimersByTimeAsync(0.05 * hour);
    expect(subscribers.size).toBe(0);
    expect(ends()).toEqual(Array(40).fill('complete'));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the authorization', () => {
  it('ends the stream when it expires', async () => {
    const { open, subscribers, ends } = expiringIn(10_000);
    const { next } = readText(await open());
    await next();
    await vi.advanceTimersByTimeAsync(9_900);
    expect(subscribers.size).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(subscribers.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(ends()).toEqual(['complete']);
    expect(await next()).toBeNull();
  });

  it('ends the stream immediately if it has already expired', async () => {
    const { open, subscribers } = expiringIn(-day);
    const text = (await open()).text();
    await vi.advanceTimersByTimeAsync(1);
    expect(await text).toMatch(/^retry: \d+\n\n/);
    expect(subscribers.size).toBe(0);
  });

  it.each([30, 36_500, 90_000_000])('may be valid for %d days', async (days) => {
    const { open, subscribers } = expiringIn(days * day);
    const { next } = readText(await open());
    await next();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(subscribers.size).toBe(1);
  });
});
