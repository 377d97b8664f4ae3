import { expect, it } from 'vitest';
import { Baseline } from './baseline.js';

it('the baseline is the duration that a sixteenth of the last 64 requests reach, once there are sixteen', () => {
  const baseline = new Baseline();
  for (let ms = 1; ms <= 15; ms++) baseline.add(ms);
  expect(baseline.slowThresholdMs).toBeUndefined();
  baseline.add(16);
  expect(baseline.slowThresholdMs).toBe(16);
  for (let ms = 17; ms <= 64; ms++) baseline.add(ms);
  expect(baseline.slowThresholdMs).toBe(61);
  for (let i = 0; i < 64; i++) baseline.add(1);
  expect(baseline.slowThresholdMs).toBe(1);
});
