import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePosition, positionText, type Standing, standingOf } from './history.js';

const timelines = [
  { id: 'first', since: null },
  { id: 'second', since: 100n },
  { id: 'third', since: null },
  { id: 'fourth', since: 300n },
];

describe('standingOf', () => {
  it.each<[string, bigint, Standing]>([
    ['fourth', 10_000n, 'newest'],
    ['first', 99n, 'included'],
    ['first', 100n, 'included'],
    ['first', 101n, 'lost'],
    // Where the second and the third part is not known, but only what was on the second depends on it.
    ['second', 1n, 'lost'],
    ['third', 300n, 'included'],
    ['third', 301n, 'lost'],
    ['fifth', 1n, 'unknown'],
  ])('on the %s timeline, at %s: %s', (timeline, lsn, standing) => {
    expect(standingOf({ timeline, lsn }, { timelines })).toBe(standing);
  });

  it('of a database that has recorded none is unknown', () => {
    expect(standingOf({ timeline: 'first', lsn: 1n }, { timelines: [] })).toBe('unknown');
  });

  /** Each database has written a part of what another has, and then its own. */
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

  /** What a database on this branch has written, byte by byte: by whom. */
  function contents({ id, before, since, end }: Branch): string[] {
    const kept = before ? contents(before).slice(0, Number(since)) : [];
    return [...kept, ...Array.from({ length: Number(end - since) }, () => id)];
  }

  it('says `included` if and only if everything before the position is', () => {
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
          const known = historyOf(present).map(({ id, since, before }) => ({ id, since: before ? since : null }));
          for (const past of all.filter((one) => one !== present)) {
            for (let lsn = past.since; lsn <= past.end; lsn++) {
              const standing = standingOf({ timeline: past.id, lsn }, { timelines: known });
              const written = contents(past).slice(0, Number(lsn));
              const isPrefix = written.every((by, i) => contents(present)[i] === by);
              if (standing === 'included') expect(isPrefix).toBe(true);
              else if (known.some(({ id }) => id === past.id)) expect(isPrefix).toBe(false);
            }
          }
        }
      }),
    );
  });
});

describe('a position', () => {
  it('is read as it was written', () => {
    const position = { timeline: '0123456789ab', lsn: 2n ** 63n };
    expect(positionText(position)).toBe('0123456789ab/9223372036854775808');
    expect(parsePosition(positionText(position))).toEqual(position);
  });

  it.each(['', '/', 'a/', '/1', 'a/b', 'a/1/2', 'a/-1', 'a/1 ', 'a b/1', `${'a'.repeat(33)}/1`])(
    'is not %j',
    (text) => {
      expect(parsePosition(text)).toBeUndefined();
    },
  );
});
