import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasSeen, parseSnapshot } from '../protocol/snapshot.js';
import { Transactions } from './transactions.js';

const xids = fc.uniqueArray(fc.bigInt(1n, 60n), { maxLength: 30 });
const snapshots = fc
  .record({
    unseen: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }),
    beyond: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ unseen, beyond }) => {
    const xip = unseen.sort((a, b) => a - b);
    const xmax = (xip.at(-1) ?? 20) + 1 + beyond;
    return parseSnapshot(`${xip[0] ?? xmax}:${xmax}:${xip.join()}`)!;
  });

it('finds the transactions that a snapshot has not seen, ordered by ID', () => {
  fc.assert(
    fc.property(xids, snapshots, (added, snapshot) => {
      const transactions = new Transactions();
      for (const xid of added) expect(transactions.add(xid, Number(xid))).toBe(true);
      // A batch of mutations logs its client group several times.
      for (const xid of added) expect(transactions.add(xid, 1)).toBe(false);
      const expected = added.filter((xid) => !hasSeen(snapshot, xid)).sort((a, b) => Number(a - b));
      expect(transactions.since(snapshot)).toEqual(expected.map((xid) => ({ xid, rows: Number(xid) })));
    }),
    { seed: 1, numRuns: 300 },
  );
});

it('forgets transactions below an ID', () => {
  fc.assert(
    fc.property(xids, fc.bigInt(0n, 61n), (added, below) => {
      const transactions = new Transactions();
      for (const xid of added) transactions.add(xid, 1);
      transactions.forgetBelow(below);
      const expected = added.filter((xid) => xid >= below);
      expect(transactions.size).toBe(expected.length);
      const all = transactions.since(parseSnapshot('1:1:')!);
      expect(all.map(({ xid }) => xid)).toEqual(expected.sort((a, b) => Number(a - b)));
    }),
    { seed: 2, numRuns: 200 },
  );
});
