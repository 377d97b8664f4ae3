/** JOIN clauses: the sides that they preserve, the rows that they match, and the columns that USING equates. Pure. */
import { conjunctsIn, isNode, nodeList, type QueryNode } from '../../analysis/query-tree.js';
import type { Tree } from '../../parse/tree.js';
import { comparison, equals, refTo } from './conditions.js';
import { dependency, type Entries, type Join, withCondition } from './joins.js';
import { comparedEntries } from './required.js';
import { type Block, columnOfTarget, entriesIn } from './resolve.js';

/**
 * Returns the sides of which an outer join preserves rows without a match.
 * @param required the entries in which each row of the query requires a row
 */
export function preservedSides(
  { jointype }: Tree,
  { fields }: QueryNode,
  required: ReadonlySet<number>,
): { readonly preservesLeft: boolean; readonly preservesRight: boolean } {
  const type = jointype as unknown;
  const isRequired = (side: unknown) => entriesIn(side as QueryNode).some((number) => required.has(number));
  return {
    preservesLeft: (type === 'JOIN_LEFT' || type === 'JOIN_FULL') && !isRequired(fields.rarg),
    preservesRight: (type === 'JOIN_RIGHT' || type === 'JOIN_FULL') && !isRequired(fields.larg),
  };
}

/**
 * Returns the joins whose rows are matched with the other side of an outer join. If its condition compares columns of
 * an earlier outer join, a match needs a row there, so these are joins with such a row.
 */
export function basesOf(
  { quals }: Tree,
  other: QueryNode,
  joins: readonly Join[],
  { query, meaning }: Block,
): readonly Join[] {
  const rows = joins.filter(({ isDependency }) => !isDependency);
  const ownEntries = new Set([...entriesIn(other), ...rows.flatMap(({ columns }) => [...columns.keys()])]);
  const needed = comparedEntries(quals, query, meaning).filter((number) => !ownEntries.has(number));
  if (needed.length === 0) return rows;
  const fitting = joins.filter(({ nullable }) => needed.every((number) => nullable.has(number)));
  const minNullable = Math.min(...fitting.map(({ nullable }) => nullable.size));
  return fitting.length === 0 ? rows : fitting.filter(({ nullable }) => nullable.size === minNullable);
}

/** Returns the columns of a join that the condition of a further join may refer to. */
export function matchableColumns({ columns, nullable }: Join): Entries {
  return new Map([...columns, ...nullable]);
}

/** Returns the join that a row of an outer join depends on: a row of its preserved side with a match. */
export function dependencyOnMatch(base: Join, match: Join): Join {
  const known = matchableColumns(base);
  const added = [...match.columns].filter(([number]) => !known.has(number));
  return {
    ...dependency(base, match),
    columns: base.columns,
    nullable: new Map([...base.nullable, ...added, ...match.nullable]),
  };
}

/** Adds the condition of a join with USING, or of a natural join, as Postgres has analyzed it. */
export function withEqualColumns(join: Join, { fields }: QueryNode, query: QueryNode): Join {
  const pairs = isNode(fields.quals) ? conjunctsIn(fields.quals) : [];
  const level = { query, columns: matchableColumns(join) };
  return pairs.reduce((all, pair) => {
    const [left, right] = nodeList(pair, 'args').map((arg) => columnOfTarget(arg, level));
    const isEqual = left && right && comparison(refTo(left), equals, refTo(right));
    return isEqual ? withCondition(all, isEqual) : all;
  }, join);
}
