import type { Fault } from '../fault.js';

const file = 'sql/0001-initial.sql';
const history = 'src/protocol/history.ts';
const plan = 'src/pulls/plan.ts';
const tests = ['test/pulls/promotion.trial.ts'];
const planned = ['test/pulls/plan.test.ts'];
const told = ['test/pulls/timelines.test.ts'];

export const promoting: readonly Fault[] = [
  {
    name: 'a promoted database has all that a cookie has seen',
    file: history,
    find: ' && lsn <= next.since',
    replace: '',
    tests: ['test/protocol/history.test.ts', ...planned],
  },
  {
    name: 'where two timelines part, what is last is lost',
    file: history,
    find: 'lsn <= next.since',
    replace: 'lsn < next.since',
    tests: ['test/protocol/history.test.ts'],
  },
  {
    name: 'what a crash recovers counts as replayed from the primary',
    file,
    find: 'case when pg_last_wal_receive_lsn() is not null then pg_last_wal_replay_lsn() end',
    replace: 'pg_last_wal_replay_lsn()',
    tests,
  },
  {
    name: 'nobody can have missed a timeline',
    file,
    find: 'case when previous.number = present.number - 1 then',
    replace: 'case when previous.number < present.number then',
    tests,
  },
  {
    name: 'the newest tick may be one of the new timeline',
    file,
    find: ' and tick.timeline = previous.number',
    replace: '',
    tests,
  },
  {
    name: 'transaction IDs that are given out again are from the future',
    file: plan,
    find: "if (standing === 'included') return 'same';",
    replace: '',
    tests: planned,
  },
  {
    name: 'a standby resets who comes from a timeline that it has yet to see',
    file: plan,
    find: "return recovery && snapshot.xmin < parsedSnapshot.xmax ? 'ahead' : 'other';",
    replace: "return 'other';",
    tests: planned,
  },
  {
    name: 'a primary answers on a timeline that nobody has recorded',
    file: 'src/pulls/pull.ts',
    find: '      throw new OutdatedError();\n    }\n    const { clientGroupID',
    replace: '    }\n    const { clientGroupID',
    tests: told,
  },
  {
    name: 'a header from before the timeline was recorded is the newest until the next look',
    file: 'src/window/sight.ts',
    find: 'if (window.header.history.current === null) return undefined;',
    replace: '',
    tests: told,
  },
  {
    name: 'lost mutations are not noticed by a reset',
    file: 'src/pulls/pull.ts',
    find: "if (plan.kind === 'lost') {",
    replace: 'if (plan.kind === undefined) {',
    tests,
  },
  {
    name: 'what is replayed without a receiver is not shown before it counts',
    file,
    find: 'lsn := pg_last_wal_replay_lsn() + 16777216;',
    replace: 'lsn := pg_last_wal_replay_lsn();',
    tests,
  },
  {
    name: 'the digest of a view depends on the tables of the others',
    file: 'src/installation/digests.ts',
    find: 'tables.map(({ oid }) => readShapes(synced.get(oid)!, columns))',
    replace: 'shaped.map((table) => readShapes(table, columns))',
    tests: ['test/installation/current-installation.test.ts'],
  },
  {
    name: 'servers of the version before refuse a schema that has only grown',
    file: 'src/installation/version.ts',
    find: "version > lastBreaking ? 'tidemark.expansion'",
    replace: "version > 99 ? 'tidemark.expansion'",
    tests: ['test/installation/version.test.ts'],
  },
];
