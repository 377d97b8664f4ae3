import { expect, it } from 'vitest';
import { LagTracker } from './lag.js';

function trackerOf(...samples: readonly (readonly [at: number, position: bigint])[]): LagTracker {
  const all = new LagTracker();
  for (const [at, position] of samples) all.add(at, position);
  return all;
}

it('a standby that has replayed all recorded positions does not lag', () => {
  expect(trackerOf([0, 10n], [1000, 20n]).lagMs(20n, 5000)).toBe(0);
  expect(trackerOf([0, 10n], [1000, 20n]).lagMs(25n, 5000)).toBe(0);
  expect(trackerOf().lagMs(0n, 5000)).toBe(0);
});

it('a standby lags since the first position that it has not replayed', () => {
  const tracker = trackerOf([0, 10n], [1000, 20n], [2000, 30n]);
  expect(tracker.lagMs(10n, 2500)).toBe(1500);
  expect(tracker.lagMs(29n, 2500)).toBe(500);
  expect(tracker.lagMs(0n, 2500)).toBe(2500);
});

it('the lag of a standby does not grow while nothing is written', () => {
  expect(trackerOf([0, 10n], [1000, 10n], [2000, 10n]).lagMs(10n, 9000)).toBe(0);
});

it('positions that were lost in a failover cause no lag', () => {
  expect(trackerOf([0, 10n], [1000, 90n], [2000, 20n]).lagMs(20n, 9000)).toBe(0);
});

it('positions are forgotten after a minute, but a standby behind the oldest one still lags', () => {
  const tracker = trackerOf(...Array.from({ length: 200 }, (_, i): [number, bigint] => [i * 1000, BigInt(i)]));
  expect(tracker.lagMs(0n, 199_000)).toBeGreaterThan(50_000);
});
