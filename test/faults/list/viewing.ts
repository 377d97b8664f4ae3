import type { Fault } from '../fault.js';

export const viewing: readonly Fault[] = [
  {
    name: 'a row for which two alternatives hold is read twice',
    file: 'src/view/whole.ts',
    find: 'isOneOf ? [] :',
    replace: 'true ? [] :',
    tests: ['test/view/whole.test.ts'],
  },
  {
    name: 'a null alternative hides what another one yields',
    file: 'src/view/whole.ts',
    find: "{ BooleanTest: { arg, booltesttype: 'IS_NOT_TRUE' } }",
    replace: "{ BoolExpr: { boolop: 'NOT_EXPR', args: [arg] } }",
    tests: ['test/view/whole.test.ts'],
  },
  {
    name: 'the alternatives that fail for some rows are tested for all',
    file: 'src/view/whole.ts',
    find: 'disjuncts.some(isJoin) && isPlain(disjuncts)',
    replace: 'disjuncts.some(isJoin)',
    tests: ['test/view/whole.test.ts'],
  },
  {
    name: 'a first pull tests all rows of the tables',
    file: 'src/store/patches/full-patch.ts',
    find: 'render(view.whole, literals)',
    replace: 'render(view.now, literals)',
    tests: ['test/pulls/first-pulls-counted.test.ts'],
  },
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
    find: 'checkPrefixes(views);\n    this.#db',
    replace: 'this.#db',
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
];
