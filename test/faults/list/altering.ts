import type { Fault } from '../fault.js';

const plan = 'src/pulls/plan.ts';
const tests = ['test/pulls/unread-columns.test.ts'];

export const altering: readonly Fault[] = [
  {
    name: 'rows that were logged in another layout are read',
    file: plan,
    find: "if (tables.some((table) => altered.includes(table))) return { kind: 'reset', reason: 'views' };",
    replace: '',
    tests,
  },
  {
    name: 'an altered table without new rows gives no new cookie',
    file: plan,
    find: ' && altered.length === 0 &&',
    replace: ' &&',
    tests,
  },
  {
    name: 'the columns that a view reads do not count',
    file: 'src/installation/current-installation.ts',
    find: '[...columns, ...primaryKey.map(',
    replace: '[...primaryKey.map(',
    tests,
  },
  {
    name: 'whole rows read no column',
    file: 'src/installation/current-installation.ts',
    find: 'if (!columns || columns.some((column) => columnShapes[column] === undefined)) return [shape];',
    replace: 'if (!columns) return [shape];',
    tests,
  },
  {
    name: 'the types of columns are no part of them',
    file: 'src/installation/shaped-tables.ts',
    find: "select root, col, concat_ws(' ', 'label'",
    replace: "select root, -1, concat_ws(' ', 'label'",
    tests,
  },
];
