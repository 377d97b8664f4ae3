import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allSeen,
  covers,
  finishedTransactions,
  parseSnapshot,
  type Snapshot,
  standbySnapshot,
  unseenRanges,
  upTo,
} from './snapshot.js';

const parse = (text: string) => parseSnapshot(text)!;

/** The highest transaction ID in these tests. */
const last = 60;
function seenBy({ xmax, unseen }: Snapshot): number[] {
  return Array.from({ length: last }, (_, i) => i + 1).filter(
    (xid) => xid < xmax && !unseen.some(([low, high]) => xid >= low && xid <= high),
  );
}

const xid = fc.integer({ min: 1, max: last });
const xids = fc.uniqueArray(xid, { maxLength: 20 }).map((list) => list.sort((a, b) => a - b));

/** A primary's snapshot. */
const primary = fc.tuple(xid, xids).map(([xmax, list]) => {
  const xip = list.filter((one) => one < xmax);
  return parse(`${xip[0] ?? xmax}:${xmax}:${xip.join()}`);
});

/** A standby's snapshot, the primary's snapshot that it builds on, and the transactions that it has seen besides. */
const standby = fc.tuple(primary, xids, fc.nat(10), xid).map(([primarySnapshot, list, more, low]) => {
  const xmax = BigInt(Math.max(Number(primarySnapshot.xmax), ...list) + more + 1);
  const xmin = BigInt(low) < xmax ? BigInt(low) : xmax;
  const seen = list.filter((one) => one >= xmin && !seenBy(primarySnapshot).includes(one));
  const bounds = parse(`${xmin}:${xmax}:`);
  return { primarySnapshot, xmin, seen, snapshot: standbySnapshot(bounds, primarySnapshot, seen.map(BigInt)) };
});
const any = fc.oneof(
  primary,
  standby.map(({ snapshot }) => snapshot),
);

describe('a snapshot', () => {
  it.each([
    ['1:1:', { xmin: 1n, xmax: 1n, unseen: [] }],
    [
      '10:20:11,19',
      {
        xmin: 10n,
        xmax: 20n,
        unseen: [
          [11n, 11n],
          [19n, 19n],
        ],
      },
    ],
    ['9223372036854775807:9223372036854775807:', { xmin: 2n ** 63n - 1n, xmax: 2n ** 63n - 1n, unseen: [] }],
  ])('is read from %s', (text, snapshot) => {
    expect(parseSnapshot(text)).toEqual({ text, ...snapshot });
  });

  it.each([
    '',
    '1',
    '1:2',
    '1:2:,',
    '1:2:3,',
    ' 1:2:',
    '-1:2:',
    '1:2:3 ',
    "1:2:3'",
    '1:2:\n',
    '10000000000000000000000:1:',
    '1:2:~',
    '1:2:~AAAA',
    '1:2:~!',
    '1:2:3~AAAA',
    `1:2:~${deflateRawSync('1,x').toString('base64url')}`,
    `1:2:~${deflateRawSync('1'.repeat(5_000_000)).toString('base64url')}`,
  ])('is not read from %.80j', (text) => {
    expect(parseSnapshot(text)).toBeUndefined();
  });

  it('may have seen every transaction ID that fits into a bigint', () => {
    expect(parseSnapshot('9223372036854775807:9223372036854775807:')).toEqual(allSeen);
  });

  it('counts finished transactions', () => {
    expect(finishedTransactions(parse('10:20:11,19'))).toBe(18n);
  });

  it('lists the transactions that it has not seen for Postgres', () => {
    const { lows, highs } = unseenRanges(standbySnapshot(parse('10:20:'), parse('10:14:10,12'), [16n]));
    expect(lows).toBe('{20,10,12,14,17}');
    expect(highs).toBe('{18446744073709551615,10,12,15,19}');
  });
});

describe("a standby's snapshot", () => {
  it('has the plain format if nothing is in progress', () => {
    expect(standbySnapshot(parse('20:20:'), parse('5:10:7'), []).text).toBe('20:20:');
  });

  it("has seen all below its xmin, all that the primary's has seen, and the given transactions", () => {
    fc.assert(
      fc.property(standby, ({ primarySnapshot, xmin, seen, snapshot }) => {
        const below = Array.from({ length: Number(xmin) - 1 }, (_, i) => i + 1);
        const expected = [...new Set([...below, ...seenBy(primarySnapshot), ...seen])].filter((one) => one <= last);
        expect(seenBy(snapshot)).toEqual(expected.sort((a, b) => a - b));
        expect(parseSnapshot(snapshot.text)).toEqual(snapshot);
      }),
    );
  });

  const text = (seen: readonly bigint[]) =>
    standbySnapshot(parse(`700:${seen.at(-1)! + 1n}:`), parse('700:700:'), seen).text;

  it('is short for 100,000 transactions in a row, every other one, or at random', () => {
    const each = (distance: (i: number) => number) => {
      let at = 700;
      return Array.from({ length: 100_000 }, (_, i) => {
        at += distance(i);
        return BigInt(at);
      });
    };
    let state = 1;
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    expect(text(each(() => 1)).length).toBeLessThan(40);
    expect(text(each(() => 2)).length).toBeLessThan(1_000);
    expect(text(each(() => 1 + random(3))).length).toBeLessThan(70_000);
    expect(text(each(() => 1 + random(100))).length).toBeLessThan(200_000);
  });
});

describe('upTo', () => {
  it('limits a snapshot to what it has seen below a transaction', () => {
    fc.assert(
      fc.property(primary, xid, (snapshot, end) => {
        const limited = upTo(BigInt(end), snapshot);
        expect(seenBy(limited)).toEqual(seenBy(snapshot).filter((one) => one < end));
        expect(parse(limited.text)).toEqual(limited);
        expect(covers(snapshot, limited)).toBe(true);
      }),
    );
  });
});

describe('covers', () => {
  it('is true if one snapshot has seen everything that another has seen', () => {
    fc.assert(
      fc.property(any, any, (one, other) => {
        const seen = new Set(seenBy(one));
        expect(covers(one, other)).toBe(seenBy(other).every((each) => seen.has(each)));
      }),
      { numRuns: 2000 },
    );
  });

  it('implies at least as many finished transactions', () => {
    fc.assert(
      fc.property(any, any, (one, other) => {
        fc.pre(covers(one, other));
        expect(finishedTransactions(one)).toBeGreaterThanOrEqual(finishedTransactions(other));
      }),
    );
  });
});
