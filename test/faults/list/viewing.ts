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
    find: 'checkPrefixes(views);',
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
    find: 'const shape = { value };',
    replace: 'const shape = {};',
    tests: ['test/pulls/other-views.test.ts'],
  },
];
