/** Connects subqueries with the queries around them, and with the values that IN, NOT IN and the like compare. Pure. */
import { names, type Tree } from '../../parse/tree.js';
import { comparison, equals, isConstant, isNull, refTo, translatedOperand } from './conditions.js';
import { type Column, type Columns, dependency, type Flat, type FlatJoin, type Join, withCondition } from './joins.js';

type ColumnOf = (node: Tree) => Column | undefined;

/** Returns the comparisons that IN or ANY makes with the subquery's rows, as far as a companion query can keep them. */
export function comparisonsOf({ testexpr, operName }: Tree, outputs: Columns, columnOf: ColumnOf): Tree[] {
  if (!testexpr) return [];
  const { args } = ((testexpr as Tree).RowExpr ?? { args: [testexpr] }) as { args: Tree[] };
  return args.flatMap((arg, i) => {
    const output = outputs[i];
    const value = translatedOperand(arg, columnOf);
    return value && output ? [comparison(value, operName ?? equals, refTo(output))] : [];
  });
}

/** Conditions for those rows of a subquery that matter. */
interface Test {
  readonly conditions: readonly Tree[];
  /** True if rows rarely meet the conditions, so that the subquery need not be connected with anything. */
  readonly isRare: boolean;
}

/** A test that all rows pass. */
const noTest: Test = { conditions: [], isRare: false };

/**
 * Returns tests for the rows of a subquery that matter to NOT IN and the like: the rows equal to the value, and those
 * for which the result is neither true nor false. These are the rows with null, or all rows if the value is null.
 * @param link undefined if the subquery is not compared with anything
 */
export function testsOf(link: Tree | undefined, outputs: Columns, columnOf: ColumnOf): readonly Test[] {
  const { testexpr: tested, operName, subLinkType } = (link ?? {}) as { testexpr?: Tree } & Tree;
  const operator = names(operName).at(-1) ?? '=';
  const isEquality = operator === (subLinkType === 'ALL_SUBLINK' ? '<>' : '=');
  const [output, ...others] = outputs;
  const value = tested && translatedOperand(tested, columnOf);
  if (!value || !isEquality || !output || others.length > 0) return [noTest];
  const isNotNull = isConstant(tested) || columnOf(tested.ColumnRef as Tree)!.isNotNull;
  return [
    { conditions: [comparison(value, equals, refTo(output))], isRare: false },
    ...(output.isNotNull ? [] : [{ conditions: [isNull(refTo(output))], isRare: true }]),
    ...(isNotNull ? [] : [{ conditions: [isNull(value)], isRare: false }]),
  ];
}

/**
 * Returns joins with the rows of a subquery on which the rows of a join depend.
 * @param tests returns the alternative conditions for rows that matter
 */
export function dependenciesOn(
  flat: Flat,
  join: Join,
  tests: (one: FlatJoin) => readonly Test[] = () => [noTest],
): Join[] {
  if (join.isDependency) return [];
  return flat.joins.flatMap((one) =>
    tests(one).map(({ conditions, isRare }) => ({
      ...conditions.reduce(withCondition, dependency(join, one)),
      columns: join.columns,
      nullable: join.nullable,
      isRare: one.isRare || isRare,
    })),
  );
}
