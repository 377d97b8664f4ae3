/** The oracle detects known faults: each copy of the sources has one. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Patch } from '../../support/patch.js';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';
import {
  claimWithoutLock,
  cursorOfTheLog,
  cursorOfXmax,
  cursorOfXmin,
  separateLastMutationID,
} from '../oracle/classics.js';
import { runOracle } from '../oracle/oracle.js';
import { describeDifference, type Report } from '../oracle/report.js';
import { fewViewSpecs } from '../oracle/views.js';

/** A run ends at its first difference, so only a run without differences lasts this long. */
const enough = 5000;

async function reportOn(name: string, patches: readonly Patch[], transactions: number): Promise<Report> {
  const code = await loadBroken(name, patches);
  const options = { seed: 5, transactions, cluster: process.env.TIDEMARK_TEST_CLUSTER!, pauseMs: 25 };
  return (await runOracle({ ...options, code, views: fewViewSpecs, stopAtDifference: true })).report;
}

afterAll(removeCopies);

it('the oracle finds no difference in an unpatched copy', async () => {
  expect((await reportOn('none', [], 500)).differences.map(describeDifference)).toEqual([]);
}, 200_000);

interface Fault {
  readonly name: string;
  /** One of these rules must be the first to object. */
  readonly rules: readonly string[];
  readonly patches: readonly Patch[];
}

/** The ways in which a missing row can first show at a client. */
const ofData = ['view', 'unchanged', 'convergence', 'surplus del', 'equal put', 'mutation', 'consistency check'];
const ofMutations = ['mutation', 'effects'];

/** The rules for pulls that share a statement. */
const ofSharing = [...ofData, 'stale', 'lastMutationID', 'error'];

const faults: readonly Fault[] = [
  {
    name: 'a cursor in log order instead of a snapshot',
    rules: ofData,
    patches: cursorOfTheLog,
  },
  {
    name: 'a cookie that holds only xmax',
    rules: ofData,
    patches: cursorOfXmax,
  },
  {
    name: 'a cookie that holds only xmin',
    rules: ofData,
    patches: cursorOfXmin,
  },
  {
    name: 'a claim that does not recheck the row after locking it',
    rules: ofMutations,
    patches: claimWithoutLock,
  },
  {
    name: 'a lastMutationID written outside the transaction of its effects',
    rules: ofMutations,
    patches: separateLastMutationID,
  },
  {
    name: 'a shared observation that confuses client groups',
    rules: [...ofMutations, 'lastMutationID', 'error'],
    patches: [
      {
        file: 'store/polls/observation.ts',
        find: '.map(([id, [owner, clients]]) => [id, { owner, clients }] as const)',
        replace: '.map(([id, [owner]], _, all) => [id, { owner, clients: all[0]![1][1] }] as const)',
      },
    ],
  },
  {
    name: 'a pull answered by a statement that began before the pull',
    // Such a statement is about other clients, so a pull may be refused as theirs would be.
    rules: [...ofSharing, 'status'],
    patches: [
      {
        file: 'change-log/coalesce.ts',
        find: 'of batch.entries()) answer.resolve(answers[i]!);',
        replace: 'of [...batch, ...queue.pending.splice(0)].entries()) answer.resolve(answers[i] ?? answers[0]!);',
      },
    ],
  },
  {
    name: 'a shared statement that mixes up cohorts',
    rules: ofSharing,
    patches: [
      {
        file: 'pulls/reads/cohort-reads.ts',
        find: 'texts.get(isShared ? index : null)',
        replace: 'texts.get(isShared ? (index + 1) % cohorts.length : null)',
      },
    ],
  },
  {
    name: 'a cache that assumes that transactions end in the order of their IDs',
    rules: ofData,
    patches: [
      {
        file: 'change-log/transactions.ts',
        find: 'for (const [first, last] of unseen) {',
        replace: 'for (const [first, last] of unseen.slice(0, 0)) {',
      },
    ],
  },
  {
    name: 'a delta shared by clients whose newest missing transaction is the same',
    rules: ofData,
    patches: [
      {
        file: 'change-log/change-log-cache.ts',
        find: '[...xids].sort((a, b) => (a < b ? -1 : 1))',
        replace: '[...xids].sort((a, b) => (a < b ? -1 : 1)).slice(-1)',
      },
    ],
  },
  {
    name: 'a removed view read with current rows',
    rules: ofData,
    patches: [
      {
        file: 'store/patches/view-set-change.ts',
        find: 'statesAsOf(view.occurrenceTables, tables)',
        replace: 'statesAsOf(view.occurrenceTables, tables && new Map())',
      },
    ],
  },
];

describe('the oracle detects', () => {
  it.each(faults)(
    '$name',
    async ({ name, rules, patches }) => {
      const { differences } = await reportOn(name.replaceAll(' ', '-'), patches, enough);
      expect(rules).toContain(differences[0]?.rule);
    },
    400_000,
  );
});
