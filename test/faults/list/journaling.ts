import type { Fault } from '../fault.js';

const tests = ['test/writes/journal.test.ts'];

export const journaling: readonly Fault[] = [
  {
    name: 'mutations that share a transaction are not in the journal',
    file: 'src/writes/apply-together.ts',
    find: 'last(...journal.keep(',
    replace: 'void (journal.keep(',
    tests,
  },
  {
    name: 'the journal knows nothing of a mutation that is skipped',
    file: 'src/writes/apply-once.ts',
    find: '...journal.keep(origin, [entry]), ',
    replace: '',
    tests,
  },
  {
    name: 'the journal says of a mutation that it was applied before it is',
    file: 'src/writes/apply-once.ts',
    find: `        await mutator.run({ tx, args, ctx: context, profileID, schemaVersion });
        last(...journal.keep(origin, [appliedEntry(mutation.name, mutation.id)]));`,
    replace: `        await db.query(journal.keep(origin, [appliedEntry(mutation.name, mutation.id)])[0] ?? { text: 'select' });
        await mutator.run({ tx, args, ctx: context, profileID, schemaVersion });`,
    tests,
  },
  {
    name: 'the journal has calls that were only tried',
    file: 'src/writes/calls.ts',
    find: 'if (!settings.rollback) await',
    replace: 'await',
    tests,
  },
  {
    name: 'all calls of a batch are blamed for one',
    file: 'src/writes/calls.ts',
    find: '.filter((_, place) => index === undefined || index === place)',
    replace: '',
    tests,
  },
  {
    name: 'whatever is called as if it were a mutator is in the journal',
    file: 'src/writes/entries.ts',
    find: "outcome === 'unknown-mutator' ? null : mutator",
    replace: 'mutator',
    tests,
  },
  {
    name: 'entries of the journal are kept forever',
    file: 'src/store/journal.ts',
    find: 'where at < now() - make_interval(secs => $1)',
    replace: 'where at < now() - make_interval(secs => $1) and false',
    tests,
  },
  {
    name: 'a server starts although it cannot keep its journal',
    file: 'src/store/journal.ts',
    find: 'if (row!.mayKeep) return;',
    replace: 'return;',
    tests,
  },
];
