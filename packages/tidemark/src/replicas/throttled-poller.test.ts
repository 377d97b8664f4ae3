import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ChangeLogCache } from '../change-log/change-log-cache.js';
import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import { ThrottledPoller } from './throttled-poller.js';

const cache = {} as ChangeLogCache;

/** Returns a poller that waits for `poll` before it answers. */
const pollerOf = (poll: () => Promise<unknown>) =>
  new ThrottledPoller({ poll: () => poll().then(() => cache) } as unknown as ChangeLogPoller);

describe('a primary that does not answer a poll', () => {
  it('counts as unavailable after five seconds, and sooner the next time, until it answers', async () => {
    let isAvailable = false;
    const never = new Promise(() => {});
    const poller = pollerOf(() => (isAvailable ? Promise.resolve() : never));
    const secondsOf = async (expected: ChangeLogCache | undefined) => {
      const begun = performance.now();
      expect(await poller.poll()).toBe(expected);
      return (performance.now() - begun) / 1000;
    };
    expect(await secondsOf(undefined)).toBeGreaterThan(4.9);
    expect(await secondsOf(undefined)).toBeLessThan(4);
    isAvailable = true;
    expect(await secondsOf(cache)).toBeLessThan(1);
    isAvailable = false;
    expect(await secondsOf(undefined)).toBeGreaterThan(4.9);
  }, 60_000);

  it('yields no cache if it returns an error', async () => {
    expect(await pollerOf(() => Promise.reject(new Error('refused'))).poll()).toBeUndefined();
  });

  it('counts as available while this process is too busy to read its answer', async () => {
    const poller = pollerOf(async () => {
      const reading = readFile(import.meta.filename);
      const until = performance.now() + 1_500;
      setImmediate(() => {
        while (performance.now() < until);
      });
      await reading;
      // Reading a file takes several steps, and each of them waits for the event loop.
    });
    expect(await poller.poll()).toBe(cache);
  });
});
