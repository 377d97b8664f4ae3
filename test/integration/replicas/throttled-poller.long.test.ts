import { expect, it } from 'vitest';
import type { ChangeLogCache } from '../../../packages/tidemark/src/change-log/change-log-cache.js';
import type { ChangeLogPoller } from '../../../packages/tidemark/src/change-log/change-log-poller.js';
import { ThrottledPoller } from '../../../packages/tidemark/src/replicas/throttled-poller.js';

const cache = {} as ChangeLogCache;

it('a primary that does not answer a poll counts as unavailable after five seconds, and sooner the next time, until it answers', async () => {
  let isAvailable = false;
  const never = new Promise<ChangeLogCache>(() => {});
  const poller = new ThrottledPoller({
    poll: () => (isAvailable ? Promise.resolve(cache) : never),
  } as unknown as ChangeLogPoller);
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
