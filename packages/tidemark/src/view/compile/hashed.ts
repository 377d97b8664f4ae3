/** Finds the tables that Postgres may read into a hash table to test a condition. Pure. */
import { conjuncts } from '../parse/conditions.js';
import { isTree, type Tree, visits } from '../parse/tree.js';
import { tablesIn } from './rewrite.js';

/**
 * Returns the occurrences of tables, by their number in `tablesIn`, within subqueries that Postgres may read into a
 * hash table. Such a subquery must not depend on a row of an outer query; see `cohortSelect`.
 *
 * Postgres turns EXISTS and NOT EXISTS into a join if they are conjuncts. It may hash any other EXISTS, and
 * `x in (select …)`. It never hashes subqueries that yield a value or an array.
 */
export function hashedOccurrences(select: Tree): ReadonlySet<number> {
  const numbers = new Map(tablesIn(select).map((range, i) => [range, i]));
  const joined = joinedExists(select);
  const occurrences = new Set<number>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isHashed = type === 'SubLink' && (node.subLinkType === 'ANY_SUBLINK' || isExists(node)) && !joined.has(node);
    for (const below of isHashed ? visits(node.subselect) : []) {
      const number = numbers.get(below.node);
      if (number !== undefined) occurrences.add(number);
    }
  }
  return occurrences;
}

function joinedExists(select: Tree): ReadonlySet<Tree> {
  const links = new Set<Tree>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isInner = type === 'JoinExpr' && node.jointype === 'JOIN_INNER';
    for (const condition of conjuncts(type === 'SelectStmt' ? node.whereClause : isInner && node.quals)) {
      const { boolop, args } = (condition.BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
      const { SubLink: link } = boolop === 'NOT_EXPR' ? args![0]! : condition;
      if (isTree(link) && isExists(link)) links.add(link);
    }
  }
  return links;
}

function isExists({ subLinkType }: Tree): boolean {
  return subLinkType === 'EXISTS_SUBLINK';
}
