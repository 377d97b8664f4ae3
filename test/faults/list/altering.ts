import type { Fault } from '../fault.js';

const tests = ['test/pulls/unread-columns.test.ts'];
const again = ['test/pulls/altered-views.test.ts'];
const deciding = ['test/view/deciding-columns.test.ts'];
const decidingColumns = 'src/view/analysis/deciding-columns.ts';
const turnover = 'src/store/patches/turnover.ts';

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
  {
    name: 'of a view that was altered, only what differs from what it would have been is put',
    file: turnover,
    find: "told === 'rows' ? row :",
    replace: 'told !== undefined ? row :',
    tests: again,
  },
  {
    name: 'the keys that an altered view has no more stay with the client',
    file: turnover,
    find: `where \${isPut} or \${isGone}`,
    replace: `where \${isPut}`,
    tests: again,
  },
  {
    name: 'a view is known by its keys, whatever has become of what decides them',
    file: 'src/installation/held-views.ts',
    find: 'keysDigest(view, tables) === view.keysDigest',
    replace: 'view.keysDigest !== undefined && keysDigest !== undefined',
    tests: again,
  },
  {
    name: 'what decides keys is not kept with a view',
    file: 'src/installation/digests.ts',
    find: 'return digestBy(bound, shaped, bound.view.decides);',
    replace: 'return digestBy(bound, shaped, bound.view.reads);',
    tests: again,
  },
  {
    name: 'what finds the rows decides nothing',
    file: decidingColumns,
    find: "if (name !== 'joinaliasvars')",
    replace: "if (name !== 'joinaliasvars' && name !== 'jointree')",
    tests: [...deciding, ...again],
  },
  {
    name: 'the columns of the key decide nothing',
    file: decidingColumns,
    find: 'key.includes(fields.resname as string) || ',
    replace: "key.includes('') || ",
    tests: [...deciding, ...again],
  },
  {
    name: 'what rows are sorted and grouped by decides nothing',
    file: decidingColumns,
    find: "fields.ressortgroupref !== '0' || ",
    replace: '',
    tests: [...deciding, ...again],
  },
  {
    name: 'what makes several rows of one decides nothing',
    file: decidingColumns,
    find: ' || returnsSet(fields.expr ?? null);',
    replace: ' || returnsSet(null);',
    tests: deciding,
  },
  {
    name: 'what a subquery takes from the query around it decides nothing',
    file: decidingColumns,
    find: 'nodeList(queries[level]!',
    replace: 'nodeList(queries[0]!',
    tests: deciding,
  },
  {
    name: 'the columns of a join decide nothing',
    file: decidingColumns,
    find: "const joined = nodeList(entry, 'joinaliasvars');",
    replace: "const joined = nodeList(entry, 'joinaliasvars').slice(0, 0);",
    tests: deciding,
  },
  {
    name: 'views that have changed are read in the places of small pulls',
    file: 'src/pulls/pull.ts',
    find: "size === 'short' && !this.#changed;",
    replace: "size === 'short';",
    tests: again,
  },
];
