import type { Fault } from '../fault.js';

const delta = 'src/store/patches/delta.ts';
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
    find: '(many ? [atOnce(many, few ?',
    replace: '(many && !few ? [atOnce(many, few ?',
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
