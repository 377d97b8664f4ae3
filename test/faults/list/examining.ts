import type { Fault } from '../fault.js';

const rights = 'src/doctor/rights.ts';
const scans = 'src/doctor/scans.ts';
const growth = 'src/doctor/log-growth.ts';
const health = 'src/endpoints/health.ts';
const indexes = ['test/doctor/indexes.test.ts'];
const growths = ['test/doctor/log-growth.test.ts'];

export const examining: readonly Fault[] = [
  {
    name: 'whoever may not see the schema counts as a reader of the secret',
    file: rights,
    find: "and has_schema_privilege(r.oid, to_regnamespace('tidemark'), 'usage')",
    replace: '',
    tests: ['test/doctor/rights.test.ts'],
  },
  {
    name: 'servers count as readers of the secret',
    file: rights,
    find: "and not has_table_privilege(r.oid, change.oid, 'delete')",
    replace: '',
    tests: ['test/doctor/healthy.test.ts'],
  },
  {
    name: 'a right that covers two columns is only looked for on one',
    file: rights,
    find: ", ('meta', 'aging')",
    replace: '',
    tests: ['test/doctor/rights.test.ts'],
  },
  {
    name: 'tables are read that the role may not read',
    file: 'src/doctor/examine.ts',
    find: 'if (lacking.some(',
    replace: 'if (false && lacking.some(',
    tests: ['test/doctor/rights.test.ts'],
  },
  {
    name: 'views are planned for the sample user',
    file: 'src/doctor/plans.ts',
    find: 'force_generic_plan',
    replace: 'force_custom_plan',
    tests: indexes,
  },
  {
    name: 'the plans of deltas are not looked at',
    file: scans,
    find: 'for (const { table, plan } of deltas) {',
    replace: 'for (const { table, plan } of deltas.slice(deltas.length)) {',
    tests: indexes,
  },
  {
    name: 'reading all of a table for all of its rows needs an index',
    file: scans,
    find: 'scans.filter((scan) => scan.isSelective)',
    replace: 'scans',
    tests: indexes,
  },
  {
    name: 'an index that is there is missing',
    file: scans,
    find: 'if (columns && missing!.length === 0) return [];',
    replace: '',
    tests: ['test/doctor/indexes.test.ts', 'test/doctor/healthy.test.ts'],
  },
  {
    name: 'small tables need indexes',
    file: scans,
    find: 'const fewRows = 10_000;',
    replace: 'const fewRows = 10;',
    tests: indexes,
  },
  {
    name: 'one index serves either of two conditions',
    file: 'src/doctor/conditions.ts',
    find: "node.boolop === 'OR_EXPR'",
    replace: "node.boolop === 'NOT_EXPR'",
    tests: indexes,
  },
  {
    name: 'sessions that hide their age hold nothing back',
    file: 'src/doctor/horizon.ts',
    find: 'seconds === null ? transactions >= manyTransactions',
    replace: 'seconds === null ? transactions < 0',
    tests: ['test/doctor/horizon.test.ts'],
  },
  {
    name: 'growth is judged by minutes',
    file: growth,
    find: 'daySeconds >= shortestMeasure && ',
    replace: '',
    tests: growths,
  },
  {
    name: 'what came before the first tick of a day counts as growth of that day',
    file: growth,
    find: 'filter (where at > first)',
    replace: '',
    tests: growths,
  },
  {
    name: 'a server does not notice what holds back the horizon',
    file: 'src/store/retention.ts',
    find: 'where oldest_xid = (select max(oldest_xid) from tidemark.tick)',
    replace: 'where oldest_xid > (select max(oldest_xid) from tidemark.tick)',
    tests: ['test/store/upkeep.test.ts'],
  },
  {
    name: 'every failure counts as a wrong setup',
    file: health,
    find: "cause instanceof SetupError ? 'setup' : 'database'",
    replace: "cause instanceof Error ? 'setup' : 'database'",
    tests: ['test/endpoints/app.test.ts'],
  },
];
