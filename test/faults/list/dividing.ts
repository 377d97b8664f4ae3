import type { Fault } from '../fault.js';

const delta = 'src/store/patches/delta.ts';
const sides = 'src/store/patches/sides.ts';
const firstRows = 'src/view/partition/first-rows.ts';
const restrict = 'src/view/partition/restrict.ts';
const flatten = 'src/view/partition/flatten.ts';
const merged = 'src/view/partition/merged-columns.ts';
const outputs = 'src/view/partition/outputs.ts';
const tests = ['test/pulls/first-rows.test.ts'];
const keyed = ['test/pulls/keyed-deltas.test.ts'];
const partitions = ['test/view/partition.test.ts'];
const costs = 'src/view/change-costs.ts';
const status = ['test/doctor/change-status.test.ts'];

/** Views that are divided into partitions. */
export const dividing: readonly Fault[] = [
  {
    name: 'rows that have changed count among those that come first and have not',
    file: restrict,
    find: '[isOfNone(columns.map(isOfRow))]',
    replace: '[]',
    tests,
  },
  {
    name: 'the rows in front of an offset are not among the first',
    file: firstRows,
    find: 'limitOffset ? sum(limitCount!, limitOffset) : limitCount',
    replace: 'limitCount',
    tests,
  },
  {
    name: 'the first rows as of the snapshot are all of those that have changed',
    file: firstRows,
    find: 'larg: {',
    replace: 'larg: { whereClause: { A_Const: { boolval: {} } },',
    tests,
  },
  {
    name: 'what rows are sorted by is left out of what is sorted',
    file: firstRows,
    find: 'SortBy: place < 0 ? sort',
    replace: 'SortBy: place < 1000 ? sort',
    tests,
  },
  {
    name: 'of many changed rows, none was among the first',
    file: delta,
    find: '(many ? [atOnce(many,',
    replace: '(many && !few ? [atOnce(many,',
    tests,
  },
  {
    name: 'a partition without a value is not found among those of the snapshot',
    file: delta,
    find: 'const isWhole = hasNull ?',
    replace: 'const isWhole = hasNull === null ?',
    tests,
  },
  {
    name: 'a partition depends on the old rows of another table',
    file: sides,
    find: 'filter (where tidemark_table =',
    replace: 'filter (where tidemark_table <>',
    tests: keyed,
  },
  {
    name: 'many partitions depend on other old rows than they do',
    file: sides,
    find: 'm.tidemark_row in (select',
    replace: 'm.tidemark_row not in (select',
    tests: keyed,
  },
  {
    name: 'of many partitions, one of each group is evaluated',
    file: delta,
    find: '= tidemark_g.tidemark_group)',
    replace: '= tidemark_g.tidemark_group limit 1)',
    tests: keyed,
  },
  {
    name: 'a hash table depends on a group of partitions',
    file: sides,
    find: 'id === undefined || view.hashed.has(i) ?',
    replace: 'id === undefined ?',
    tests: keyed,
  },
  {
    name: 'each group reads all old rows',
    file: sides,
    find: 'm.tidemark_row in (select',
    replace: 'm.tidemark_row > 0 or m.tidemark_row in (select',
    tests: ['test/oracle/keyed-counted.test.ts'],
  },
  {
    name: 'a row of one side of a full join is left out',
    file: flatten,
    find: '...(keepsRight ?',
    replace: '...(keepsRight && !keepsLeft ?',
    tests: keyed,
  },
  {
    name: 'COALESCE of any columns is taken for the merged column of a full join',
    file: merged,
    find: 'conditions.find((one) => compares(one, args, query))',
    replace: 'conditions[0]',
    tests: partitions,
  },
  {
    name: 'a column that one of several clauses divides by divides the rows',
    file: outputs,
    find: 'dividing.every((targets)',
    replace: 'dividing.some((targets)',
    tests: partitions,
  },
  {
    name: 'a change that may affect anything is said to affect partitions',
    file: costs,
    find: 'queries.every(({ tellsPartition }) => tellsPartition)',
    replace: 'queries.length > 0',
    tests: status,
  },
  {
    name: 'an index is wanted on what a constant is compared with',
    file: costs,
    find: 'const joined = own.filter(([, other]) => other && reached.has(other[0]));',
    replace: 'const joined = own.filter(([, other]) => !other || reached.has(other[0]));',
    tests: status,
  },
  {
    name: 'a server warns of small tables too',
    file: 'src/installation/costly-changes.ts',
    find: 'rows >= manyRows',
    replace: 'rows >= 0',
    tests: ['test/installation/costly-changes.test.ts'],
  },
];
