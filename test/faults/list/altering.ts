import type { Fault } from '../fault.js';

const tests = ['test/pulls/unread-columns.test.ts'];

export const altering: readonly Fault[] = [
  {
    name: 'rows are read in another layout than they were logged in',
    file: 'src/pulls/plan.ts',
    find: 'if (tables.some((table) => altered.includes(table)))',
    replace: 'if (tables.every((table) => altered.includes(table)) && false)',
    tests,
  },
  {
    name: 'a cookie keeps the shapes that it was first given',
    file: 'src/pulls/pull.ts',
    find: ' || this.#isNewClient(header) || this.#isAltered(cookie)',
    replace: ' || this.#isNewClient(header)',
    tests,
  },
  {
    name: 'whole rows have no columns',
    file: 'src/installation/digests.ts',
    find: 'if (!columns || columns.some((column) => columnShapes[column] === undefined)) return [shape];',
    replace: 'if (!columns) return [shape];',
    tests,
  },
  {
    name: 'a view reads nothing of its tables',
    file: 'src/view/analysis/read-columns.ts',
    find: 'columns.add(Number(member) - offset);',
    replace: '',
    tests,
  },
  {
    name: 'the labels of a type that no view reads are nobody’s',
    file: 'src/installation/shaped-tables.ts',
    find: `select root, \${own}, concat_ws(' ', 'label'`,
    replace: `select root, \${dropped}, concat_ws(' ', 'label'`,
    tests,
  },
];
