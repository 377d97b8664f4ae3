/** Tests which states of a standby satisfy a read requirement. */
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../protocol/snapshot.js';
import { type ReadRequirement, satisfies } from './read-requirement.js';

const snapshot = (text: string) => parseSnapshot(text)!;
const shows = (text: string, recovery = true, current: string | null = null) => ({
  visibleSnapshot: snapshot(text),
  recovery,
  history: { timelines: current === null ? [] : [{ id: current, since: null }], current, lsn: 1n },
});
const requirement = (more: Partial<ReadRequirement>): ReadRequirement => ({
  since: undefined,
  timeline: undefined,
  xids: [],
  ...more,
});
const upTo = (text: string, next: bigint) => ({ parsedSnapshot: snapshot(text), parsedNext: next });

describe('a read requirement', () => {
  it('is satisfied by a standby that shows its transactions', () => {
    expect(satisfies(shows('10:20:12'), requirement({ xids: [9n, 11n] }))).toBe(true);
    expect(satisfies(shows('10:20:12'), requirement({ xids: [11n, 12n] }))).toBe(false);
    expect(satisfies(shows('10:20:'), requirement({ xids: [20n] }))).toBe(false);
  });

  it('is satisfied by a standby that shows all that the primary has shown', () => {
    expect(satisfies(shows('20:20:'), requirement({ since: upTo('15:20:15', 20n) }))).toBe(true);
    expect(satisfies(shows('10:20:12'), requirement({ since: upTo('15:20:15', 20n) }))).toBe(false);
    // A later transaction has ended.
    expect(satisfies(shows('10:21:12'), requirement({ since: upTo('15:20:15', 20n) }))).toBe(true);
  });

  it('is satisfied only on the timeline of the primary', () => {
    expect(satisfies(shows('20:20:', true, 'new'), requirement({ timeline: 'new' }))).toBe(true);
    expect(satisfies(shows('20:20:', true, 'old'), requirement({ timeline: 'new' }))).toBe(false);
    expect(satisfies(shows('20:20:'), requirement({ timeline: 'new' }))).toBe(false);
    // The primary has begun a new timeline that no server has recorded yet.
    expect(satisfies(shows('20:20:', true, 'old'), requirement({ timeline: null }))).toBe(false);
    expect(satisfies(shows('20:20:', true, 'old'), requirement({}))).toBe(true);
  });

  it('is not satisfied by a promoted standby', () => {
    expect(satisfies(shows('20:20:', false), requirement({}))).toBe(false);
  });
});
