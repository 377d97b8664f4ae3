/** What a standby must show, so that its answer counts. */
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../protocol/snapshot.js';
import { type Demand, mayReset, meets } from '../pulls/demand.js';
import type { ResetReason } from '../pulls/plan.js';

const snapshot = (text: string) => parseSnapshot(text)!;
const shows = (text: string, recovery = true, current: string | null = null) => ({
  shown: snapshot(text),
  recovery,
  history: { timelines: current === null ? [] : [{ id: current, since: null }], current, lsn: 1n },
});
const demand = (more: Partial<Demand>): Demand => ({
  since: undefined,
  timeline: undefined,
  xids: [],
  confirms: async () => true,
  ...more,
});
const upTo = (text: string, next: bigint) => ({ parsedSnapshot: snapshot(text), parsedNext: next });

describe('a demand is met', () => {
  it('by whatever shows the transactions', () => {
    expect(meets(shows('10:20:12'), demand({ xids: [9n, 11n] }))).toBe(true);
    expect(meets(shows('10:20:12'), demand({ xids: [11n, 12n] }))).toBe(false);
    expect(meets(shows('10:20:'), demand({ xids: [20n] }))).toBe(false);
  });

  it('by whatever shows all that the primary has shown', () => {
    expect(meets(shows('20:20:'), demand({ since: upTo('15:20:15', 20n) }))).toBe(true);
    expect(meets(shows('10:20:12'), demand({ since: upTo('15:20:15', 20n) }))).toBe(false);
    // A transaction that began later has ended.
    expect(meets(shows('10:21:12'), demand({ since: upTo('15:20:15', 20n) }))).toBe(true);
  });

  it('only on the timeline of the primary', () => {
    expect(meets(shows('20:20:', true, 'new'), demand({ timeline: 'new' }))).toBe(true);
    expect(meets(shows('20:20:', true, 'old'), demand({ timeline: 'new' }))).toBe(false);
    expect(meets(shows('20:20:'), demand({ timeline: 'new' }))).toBe(false);
    // The primary has begun a timeline, and nobody has recorded it.
    expect(meets(shows('20:20:', true, 'old'), demand({ timeline: null }))).toBe(false);
    expect(meets(shows('20:20:', true, 'old'), demand({}))).toBe(true);
  });

  it('by no database that has been promoted', () => {
    expect(meets(shows('20:20:', false), demand({}))).toBe(false);
  });
});

describe('a standby', () => {
  it.each<ResetReason>(['size', 'horizon', 'truncate', 'audit'])('may reset for the reason %s', async (reason) => {
    expect(await mayReset(reason, 'views', demand({ confirms: async () => false }))).toBe(true);
  });

  it.each<ResetReason>(['cookie', 'epoch', 'future', 'failure'])('may not reset for the reason %s', async (reason) => {
    expect(await mayReset(reason, 'views', demand({}))).toBe(false);
  });

  it('may reset for other views if the primary has them too', async () => {
    const confirms = async (digest: string) => digest === 'new';
    expect(await mayReset('views', 'new', demand({ confirms }))).toBe(true);
    expect(await mayReset('views', 'old', demand({ confirms }))).toBe(false);
  });
});
