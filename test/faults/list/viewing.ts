import type { Fault } from '../fault.js';

export const viewing: readonly Fault[] = [
  {
    name: 'what holds for all rows of a subquery is taken for monotone',
    file: 'src/view/strategy.ts',
    find: "link.subLinkType === 'ANY_SUBLINK')",
    replace: "link.subLinkType === 'ANY_SUBLINK' || link.subLinkType === 'ALL_SUBLINK')",
    tests: ['test/view/analyze.test.ts'],
  },
  {
    name: 'keys of one view may be keys of another',
    file: 'src/view/client-views.ts',
    find: 'this.#checkKeys([]);',
    replace: '',
    tests: ['test/view/client-views.test.ts'],
  },
  {
    name: 'a parameter looks like a constant that it equals, which grouping sets may have left out',
    file: 'src/view/client-views.ts',
    find: 'return keepsParametersApart ? ',
    replace: 'return false ? ',
    tests: ['test/view/client-views.test.ts'],
  },
  {
    name: 'what is known of a query outlives the tables’ shape',
    file: 'src/view/client-views.ts',
    find: 'const id = `',
    replace: "shape = ''; const id = `",
    tests: ['test/pulls/no-silent-gap.test.ts'],
  },
  {
    name: 'what cannot be planned with a user’s parameters is found at the first change only',
    file: 'src/installation/check-views.ts',
    find: 'await canPlan(bound);',
    replace: '',
    tests: ['test/installation/check-views.test.ts'],
  },
  {
    name: 'a server starts with a view that fails each pull',
    file: 'src/installation/check-views.ts',
    find: 'await checkConstantMoments(db, nulls);',
    replace: '',
    tests: ['test/installation/check-views.test.ts'],
  },
  {
    name: 'a value that is null is no value',
    file: 'src/view/value-sql.ts',
    find: "sql}, 'null')`",
    replace: 'sql})`',
    tests: ['test/pulls/shaped-views.test.ts'],
  },
  {
    name: 'a cookie outlives another value',
    file: 'src/view/compile.ts',
    find: 'hasOwnPrefix: prefix === undefined || undefined, value };',
    replace: 'hasOwnPrefix: prefix === undefined || undefined };',
    tests: ['test/pulls/other-views.test.ts'],
  },
  {
    name: 'a cookie outlives another template',
    file: 'src/view/compile.ts',
    find: 'const options = { template, ',
    replace: 'const options = { ',
    tests: ['test/pulls/other-views.test.ts'],
  },
  {
    name: 'keys of one view may be keys of another for some users',
    file: 'src/view/client-views.ts',
    find: 'if (queries.some(({ prefix }) => prefix !== undefined)) this.#checkKeys(queries);',
    replace: '',
    tests: ['test/view/client-views.test.ts'],
  },
  {
    name: 'who shares a statement shares a prefix',
    file: 'src/store/patches/seats.ts',
    find: 'const values = view.parameterTypes.map(() => value(count++));',
    replace:
      "const values = view.parameterTypes.map(() => value(count++)); if (isShared && view.prefix === undefined) values[values.length - 1] = '(select min(tidemark_p' + count + ') from tidemark_seats)';",
    tests: ['test/pulls/shaped-views.test.ts'],
  },
  {
    name: 'a slash in a template’s column looks like one between its columns',
    file: 'src/view/compile.ts',
    find: 'const part = isRaw ? text : ',
    replace: 'const part = isRaw || texts[0] ? text : ',
    tests: ['test/pulls/shaped-views.test.ts'],
  },
];
