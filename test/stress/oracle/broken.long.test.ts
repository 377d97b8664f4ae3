/** The oracle notices what it is there for: each copy of the sources has one well-known fault. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Patch } from '../../support/patch.js';
import { loadBroken, removeCopies } from './broken-copy.js';
import { claimWithoutLock, cursorOfTheLog, cursorOfXmax, cursorOfXmin, separateLastMutationID } from './classics.js';
import { runOracle } from './oracle.js';
import { describeDifference, type Report } from './report.js';
import { viewSpecs } from './views.js';

/** A run ends at its first difference, so only one that finds nothing gets as far as this. */
const enough = 5000;
const views = viewSpecs.filter(({ name }) => ['lists', 'todos', 'counters', 'totals', 'events'].includes(name));

async function reportOn(name: string, patches: readonly Patch[], transactions: number): Promise<Report> {
  const code = await loadBroken(name, patches);
  const options = { seed: 5, transactions, cluster: process.env.TIDEMARK_TEST_CLUSTER!, pauseMs: 25 };
  return (await runOracle({ ...options, code, views, stopAtDifference: true })).report;
}

afterAll(removeCopies);

it('finds nothing wrong with an unpatched copy', async () => {
  expect((await reportOn('none', [], 500)).differences.map(describeDifference)).toEqual([]);
}, 200_000);

interface Fault {
  readonly name: string;
  /** One of these rules must be the first to object. */
  readonly rules: readonly string[];
  readonly patches: readonly Patch[];
}

/** A client that misses a row may first show it in any of these ways. */
const ofData = ['view', 'unchanged', 'convergence', 'surplus del', 'equal put', 'mutation', 'audit'];
const ofMutations = ['mutation', 'effects'];

/** Of pulls that share a statement. */
const ofSharing = [...ofData, 'stale', 'lastMutationID', 'error'];

const faults: readonly Fault[] = [
  {
    name: 'a cursor in the order of the log in place of the snapshot',
    rules: ofData,
    patches: cursorOfTheLog,
  },
  {
    name: 'a cookie of xmax alone',
    rules: ofData,
    patches: cursorOfXmax,
  },
  {
    name: 'a cookie of xmin alone',
    rules: ofData,
    patches: cursorOfXmin,
  },
  {
    name: 'a claim that does not look again once it has the row lock',
    rules: ofMutations,
    patches: claimWithoutLock,
  },
  {
    name: 'a lastMutationID outside of the transaction of its effects',
    rules: ofMutations,
    patches: separateLastMutationID,
  },
  {
    name: 'a shared header that takes one group for another',
    rules: [...ofMutations, 'lastMutationID', 'error'],
    patches: [
      {
        file: 'store/header.ts',
        find: '.map(([id, [owner, clients]]) => [id, { owner, clients }] as const)',
        replace: '.map(([id, [owner]], _, all) => [id, { owner, clients: all[0]![1][1] }] as const)',
      },
    ],
  },
  {
    name: 'a pull answered by a statement that began before it came',
    // Such a statement is about others: a pull may be refused as theirs would be.
    rules: [...ofSharing, 'status'],
    patches: [
      {
        file: 'window/coalesce.ts',
        find: 'of members.entries()) resolve(answers[i]!);',
        replace: 'of [...members, ...queue.waiting.splice(0)].entries()) resolve(answers[i] ?? answers[0]!);',
      },
    ],
  },
  {
    name: 'a statement for many that mixes up their seats',
    rules: ofSharing,
    patches: [
      {
        file: 'pulls/seated-reads.ts',
        find: 'texts.get(isShared ? place : null)',
        replace: 'texts.get(isShared ? (place + 1) % tables.length : null)',
      },
    ],
  },
  {
    name: 'a window in which transactions end in the order of their IDs',
    rules: ofData,
    patches: [
      {
        file: 'window/transactions.ts',
        find: 'for (const [first, last] of unseen) {',
        replace: 'for (const [first, last] of unseen.slice(0, 0)) {',
      },
    ],
  },
  {
    name: 'a delta for those who have not seen the newest change alone',
    rules: ofData,
    patches: [
      {
        file: 'window/window.ts',
        find: '[...xids].sort((a, b) => (a < b ? -1 : 1))',
        replace: '[...xids].sort((a, b) => (a < b ? -1 : 1)).slice(-1)',
      },
    ],
  },
  {
    name: 'a view that a client has no more, read as it is now',
    rules: ofData,
    patches: [
      {
        file: 'store/patches/turnover.ts',
        find: "id === undefined ? 'now' : states.asof(id)",
        replace: "id === undefined || states ? 'now' : states.asof(id)",
      },
    ],
  },
];

describe('finds', () => {
  it.each(faults)(
    '$name',
    async ({ name, rules, patches }) => {
      const { differences } = await reportOn(name.replaceAll(' ', '-'), patches, enough);
      expect(rules).toContain(differences[0]?.rule);
    },
    400_000,
  );
});
