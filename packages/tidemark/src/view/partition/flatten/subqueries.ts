/** Finds the subqueries in expressions, and the rows for which Postgres evaluates them. Pure. */
import { isAggregate, type Meaning } from '../../analysis/meaning.js';
import type { QueryNode } from '../../analysis/query-tree.js';
import { selectIn, type Tree, visitsHere } from '../../parse/tree.js';
import { isNeverEmpty } from './outputs.js';

/** A subquery in an expression. */
export interface Subquery {
  readonly select: Tree;
  /** Its SubLink, which may compare it with a value; undefined for a JSON constructor. */
  readonly link: Tree | undefined;
  /** The number of queries that Postgres has wrapped around it. */
  readonly wrappers: number;
}

/** Returns the subqueries in a value, without those nested in them. */
export function subqueriesIn(value: unknown): Subquery[] {
  return [...visitsHere({ value })].flatMap(({ type, node }) => {
    if (type === 'SubLink') return { select: selectIn(node.subselect), link: node, wrappers: 0 };
    // Postgres wraps the subquery in another one with an aggregate.
    if (type === 'JsonArrayQueryConstructor') return { select: selectIn(node.query), link: undefined, wrappers: 1 };
    return [];
  });
}

/**
 * Returns the subqueries in a query's clauses: those evaluated for its rows, and those evaluated for a group even if it
 * is empty. In a query that is never empty, only the arguments of aggregates are evaluated for rows.
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
