import { describe, expect, it } from 'vitest';
import { checkHealth } from './replica-health.js';

const standby = { isStandby: true, position: 7n, systemIdentifier: 'cluster' };
const lagging = (lagMs: number) => () => lagMs;

describe('a standby', () => {
  it.each([
    ['healthy', 4_999, 'healthy'],
    ['healthy', 5_000, 'lagging'],
    ['lagging', 999, 'healthy'],
    ['lagging', 1_000, 'lagging'],
    ['unreachable', 0, 'healthy'],
    ['unreachable', 2_000, 'lagging'],
  ] as const)('that was %s and lags by %d ms is %s', (previous, lagMs, health) => {
    expect(checkHealth(standby, previous, 'cluster', lagging(lagMs))).toEqual({ health, lagMs });
  });

  it('that does not answer is unreachable', () => {
    expect(checkHealth(undefined, 'healthy', 'cluster', lagging(0)).health).toBe('unreachable');
  });

  it('that has been promoted is a primary', () => {
    expect(checkHealth({ ...standby, isStandby: false }, 'healthy', 'cluster', lagging(0)).health).toBe('primary');
  });

  it('of another cluster is foreign, even if it has been promoted', () => {
    expect(checkHealth({ ...standby, isStandby: false }, 'healthy', 'another', lagging(0)).health).toBe('foreign');
  });

  it('that does not report a replay position has unknown health', () => {
    expect(checkHealth({ ...standby, position: null }, 'healthy', 'cluster', lagging(0)).health).toBe('unknown');
  });
});
