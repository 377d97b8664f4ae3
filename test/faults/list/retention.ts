import type { Fault } from '../fault.js';

const file = 'src/store/retention.ts';
const tests = ['test/store/retention.test.ts'];

export const retention: readonly Fault[] = [
  {
    name: 'the changes of the transaction at the horizon are forgotten',
    file,
    find: 'and xid < (select horizon',
    replace: 'and xid <= (select horizon',
    tests,
  },
  {
    name: 'a tick notes the end of the snapshot in place of its beginning',
    file,
    find: 'select pg_snapshot_xmin(s), s,',
    replace: 'select pg_snapshot_xmax(s), s,',
    tests,
  },
  {
    name: 'the horizon is raised to ticks of any age',
    file,
    find: 'where at < clock_timestamp() - make_interval(secs => $1)) as horizon',
    replace: 'where $1::float8 is not null) as horizon',
    tests,
  },
  {
    name: 'the horizon is not raised before changes are deleted',
    file,
    find: 'set horizon = greatest(meta.horizon, past.horizon), aging',
    replace: 'set horizon = meta.horizon, aging',
    tests,
  },
  {
    name: 'cookies are not renewed before they fall behind the horizon',
    file: 'src/pulls/plan.ts',
    find: 'cookie.parsedSnapshot.xmin < BigInt(aging)',
    replace: 'cookie.parsedSnapshot.xmin < 0n * BigInt(aging)',
    tests: ['test/pulls/plan.test.ts'],
  },
  {
    name: 'the log of mutations is kept for ever',
    file,
    find: ` || \${mutationsID})`,
    replace: ')',
    tests: ['test/installation/roles.test.ts'],
  },
  {
    name: 'one batch is deleted, and no more',
    file,
    find: 'if (rows.length < batch) break;',
    replace: 'break;',
    tests,
  },
  {
    name: 'ticks are kept for ever',
    file,
    find: 'await db.query({ text: deleteTicks });',
    replace: '',
    tests,
  },
  {
    name: 'a new installation begins below what it has captured',
    file: 'sql/0001-initial.sql',
    find: 'horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot())',
    replace: 'horizon xid8 not null default pg_snapshot_xmax(pg_current_snapshot())',
    tests,
  },
];
