/**
 * Refuses views whose arguments decide about the values of rows, instead of only about which rows there are. A client
 * has one value for a key, whichever instances have the row.
 *
 * In doubt, a view is served: its instances may have no key in common. So the check is about columns alone. Conditions
 * can decide about values too, as of an aggregate, but mostly they do not.
 */
import { parameterText } from '../../db/literal.js';
import { SetupError } from '../../errors.js';
import type { ColumnUses, ParameterUses } from './parameter-uses.js';

/** The columns of a view that make up its rows' keys and values. */
export interface RowColumns {
  readonly key: readonly string[];
  /** The column that is the client's value; undefined if all columns are. */
  readonly value?: string | undefined;
}

/** The values of a query's parameters. */
type Values = readonly unknown[];

/**
 * Checks that rows with the same key have the same values, whatever the arguments.
 * @param values the values of the query's parameters in an instance
 * @param variations those in other instances, in each of which one argument differs
 * @throws SetupError that names the column whose values can differ
 */
export function checkRowValues(
  { columns, conditions }: ParameterUses,
  { key, value }: RowColumns,
  values: Values,
  variations: readonly Values[],
): void {
  const texts = values.map(parameterText);
  // A parameter can be derived from several arguments, and an argument can be in several parameters.
  const differing = variations.map(
    (others) => new Set(texts.flatMap((text, i) => (text === parameterText(others[i]) ? [] : [i + 1]))),
  );
  const isIn = (argument: ReadonlySet<number>, numbers: Iterable<number>) => [...numbers].some((n) => argument.has(n));
  const keyNumbers = key.flatMap((column) => allUses(columns.get(column)));
  const { all, equal, lower, upper } = conditions;
  // The rows between two bounds can be those of one month, for example, which belong to no other instance.
  const bounded = lower.size > 0 && upper.size > 0 ? [...lower, ...upper] : [];
  const restricting = [...keyNumbers, ...equal, ...bounded];
  for (const [column, { direct, inSubqueries }] of columns) {
    if (key.includes(column) || (value !== undefined && column !== value)) continue;
    const isDeciding = (argument: ReadonlySet<number>) =>
      (isIn(argument, direct) && !isIn(argument, restricting)) ||
      (isIn(argument, inSubqueries) && !isIn(argument, [...keyNumbers, ...all]));
    if (differing.some(isDeciding)) throw new SetupError(adviceFor(column));
  }
}

function allUses(uses: ColumnUses | undefined): number[] {
  return uses ? [...uses.direct, ...uses.inSubqueries] : [];
}

function adviceFor(column: string): string {
  return (
    `the value of its column ${column} depends on an argument, but a client has one value for a key, whatever the ` +
    'arguments. Return the argument as a column and add that to the key, or leave the column out and compute it in ' +
    'the client'
  );
}
