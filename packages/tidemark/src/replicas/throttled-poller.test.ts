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
