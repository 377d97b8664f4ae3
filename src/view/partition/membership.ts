/** How IN, NOT IN and their like connect a subquery with the value that they test. Pure. */
import { names, type Tree } from '../parse/tree.js';
import { comparison, equals, isConstant, isNull, refTo, translatedOperand } from './conditions.js';
import type { Column, Columns } from './joins.js';

type ColumnOf = (node: Tree) => Column | undefined;

/** The comparisons of IN and ANY that rows of the subquery meet, as far as they can be kept. */
export function comparisonsOf({ testexpr, operName }: Tree, outputs: Columns, columnOf: ColumnOf): Tree[] {
  if (!testexpr) return [];
  const { args } = ((testexpr as Tree).RowExpr ?? { args: [testexpr] }) as { args: Tree[] };
  return args.flatMap((arg, i) => {
    const output = outputs[i];
    const value = translatedOperand(arg, columnOf);
    return value && output ? [comparison(value, operName ?? equals, refTo(output))] : [];
  });
}

/** What rows of a subquery meet that matter. */
export interface Test {
  readonly conditions: readonly Tree[];
  /** True if few rows ever do, so that it need not be connected with anything. */
  readonly isRare: boolean;
}

/** All rows may matter. */
export const noTest: Test = { conditions: [], isRare: false };

/**
 * Which rows of a subquery matter to NOT IN and its like: those that are equal to the value; and those that are null, or
 * all if the value is null, since the result is then neither true nor false.
 * @param link undefined if the subquery is not one of a comparison
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
