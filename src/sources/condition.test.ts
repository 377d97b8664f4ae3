import { describe, expect, it } from 'vitest';
import { find } from './condition.js';

const standby = { isStandby: true, position: 7n, systemIdentifier: 'cluster' };
const lagging = (lagMs: number) => () => lagMs;

describe('a standby', () => {
  it.each([
    ['used', 4_999, 'used'],
    ['used', 5_000, 'late'],
    ['late', 999, 'used'],
    ['late', 1_000, 'late'],
    ['gone', 0, 'used'],
    ['gone', 2_000, 'late'],
  ] as const)('that was %s, and lags by %d ms, is %s', (was, lagMs, condition) => {
    expect(find(standby, was, 'cluster', lagging(lagMs))).toEqual({ condition, lagMs });
  });

  it('that does not answer is gone', () => {
    expect(find(undefined, 'used', 'cluster', lagging(0)).condition).toBe('gone');
  });

  it('that has been promoted is a primary', () => {
    expect(find({ ...standby, isStandby: false }, 'used', 'cluster', lagging(0)).condition).toBe('primary');
  });

  it('of another cluster is foreign, whatever else it is', () => {
    expect(find({ ...standby, isStandby: false }, 'used', 'another', lagging(0)).condition).toBe('foreign');
  });

  it('that does not say what it has replayed is not used', () => {
    expect(find({ ...standby, position: null }, 'used', 'cluster', lagging(0)).condition).toBe('silent');
  });
});
