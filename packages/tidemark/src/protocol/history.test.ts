import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWalPosition, type TimelineStatus, timelineStatusOf, walPositionText } from './history.js';

const timelines = [
  { id: 'first', since: null },
  { id: 'second', since: 100n },
  { id: 'third', since: null },
  { id: 'fourth', since: 300n },
];

describe('the timeline status', () => {
  it.each<[string, bigint, TimelineStatus]>([
    ['fourth', 10_000n, 'newest'],
    ['first', 99n, 'included'],
    ['first', 100n, 'included'],
    ['first', 101n, 'lost'],
    // The switch from the second timeline to the third is unknown, but only positions on the second depend on it.
    ['second', 1n, 'lost'],
    ['third', 300n, 'included'],
    ['third', 301n, 'lost'],
    ['fifth', 1n, 'unknown'],
  ])('on the %s timeline at %s is %s', (timeline, lsn, status) => {
    expect(timelineStatusOf({ timeline, lsn }, { timelines })).toBe(status);
  });

  it('in a database without recorded timelines is unknown', () => {
    expect(timelineStatusOf({ timeline: 'first', lsn: 1n }, { timelines: [] })).toBe('unknown');
  });

  /** Each database starts with a part of another's log, then writes its own. */
  const branches = fc.array(fc.record({ from: fc.nat(), keeps: fc.nat(), writes: fc.integer({ min: 1, max: 9 }) }), {
    minLength: 1,
    maxLength: 8,
  });

  interface Branch {
    readonly id: string;
    readonly before: Branch | undefined;
    readonly since: bigint;
    end: bigint;
  }

  /** Returns, for each byte of a branch's log, the ID of the branch that wrote it. */
  function contents({ id, before, since, end }: Branch): string[] {
    const inherited = before ? contents(before).slice(0, Number(since)) : [];
    return [...inherited, ...Array.from({ length: Number(end - since) }, () => id)];
  }

  it('is `included` if and only if everything before the position is included', () => {
    fc.assert(
      fc.property(branches, (drawn) => {
        const all: Branch[] = [{ id: 'b0', before: undefined, since: 0n, end: 5n }];
        for (const { from, keeps, writes } of drawn) {
          const before = all[from % all.length]!;
          const since = before.since + (BigInt(keeps) % (before.end - before.since + 1n));
          all.push({ id: `b${all.length}`, before, since, end: since + BigInt(writes) });
        }
        const historyOf = (branch: Branch): Branch[] => [...(branch.before ? historyOf(branch.before) : []), branch];
        for (const present of all) {
          const ownTimelines = historyOf(present).map(({ id, since, before }) => ({
            id,
            since: before ? since : null,
          }));
          for (const past of all.filter((one) => one !== present)) {
            for (let lsn = past.since; lsn <= past.end; lsn++) {
              const status = timelineStatusOf({ timeline: past.id, lsn }, { timelines: ownTimelines });
              const written = contents(past).slice(0, Number(lsn));
              const isPrefix = written.every((by, i) => contents(present)[i] === by);
              if (status === 'included') expect(isPrefix).toBe(true);
              else if (ownTimelines.some(({ id }) => id === past.id)) expect(isPrefix).toBe(false);
            }
          }
        }
      }),
    );
  });
});

describe('a WAL position', () => {
  it('can be written and read back', () => {
    const position = { timeline: '0123456789ab', lsn: 2n ** 63n };
    expect(walPositionText(position)).toBe('0123456789ab/9223372036854775808');
    expect(parseWalPosition(walPositionText(position))).toEqual(position);
  });

  it.each(['', '/', 'a/', '/1', 'a/b', 'a/1/2', 'a/-1', 'a/1 ', 'a b/1', `${'a'.repeat(33)}/1`])(
    'is not read from %j',
    (text) => {
      expect(parseWalPosition(text)).toBeUndefined();
    },
  );
});
