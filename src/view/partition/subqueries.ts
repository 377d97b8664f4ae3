/** The subqueries in expressions, and which rows they are evaluated for. Pure. */
import { isAggregate, type Meaning } from '../analysis/meaning.js';
import type { QueryNode } from '../analysis/query-tree.js';
import { selectIn, type Tree, visitsHere } from '../parse/tree.js';
import { isNeverEmpty } from './outputs.js';

/** A subquery in an expression. */
export interface Subquery {
  readonly select: Tree;
  /** What it is compared with, if it is one of the row comparisons. */
  readonly link: Tree | undefined;
  /** How many queries of Postgres's own it is in. */
  readonly wrappers: number;
}

/** The subqueries of a value, without those within them. */
export function subqueriesIn(value: unknown): Subquery[] {
  return [...visitsHere({ value })].flatMap(({ type, node }) => {
    if (type === 'SubLink') return { select: selectIn(node.subselect), link: node, wrappers: 0 };
    // Postgres wraps the subquery in another with an aggregate.
    if (type === 'JsonArrayQueryConstructor') return { select: selectIn(node.query), link: undefined, wrappers: 1 };
    return [];
  });
}

/**
 * The subqueries in a query's clauses: those that are evaluated for its rows, and those that are evaluated for a group even
 * if it has no rows, which are all but those that aggregates receive.
 */
export function subqueriesOf(
  clauses: Tree,
  query: QueryNode,
  meaning: Meaning,
): { readonly ofRows: readonly Subquery[]; readonly ofGroup: readonly Subquery[] } {
  const all = subqueriesIn(clauses);
  if (!isNeverEmpty(query)) return { ofRows: all, ofGroup: [] };
  const aggregates = [...visitsHere({ clauses })].filter((visit) => isAggregate(meaning, visit));
  const received = new Set(aggregates.flatMap(({ node }) => subqueriesIn(node)).map(({ select }) => select));
  const isReceived = ({ select }: Subquery) => received.has(select);
  return { ofRows: all.filter(isReceived), ofGroup: all.filter((subquery) => !isReceived(subquery)) };
}
