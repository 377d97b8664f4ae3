/** Finds the tables that Postgres may read into a hash table for a condition. Pure. */
import { conjuncts } from '../parse/conditions.js';
import { isTree, type Tree, visits } from '../parse/tree.js';
import { tablesIn } from './rewrite.js';

/**
 * The occurrences of tables, by their number among `tablesIn`, in subqueries that Postgres may read into a hash table. Such a
 * subquery must not depend on a row of a query further out: see `seatedSelect`.
 *
 * Postgres makes a join of EXISTS, negated or not, that is a condition by itself. It may hash what is in any other EXISTS,
 * and in `x in (select …)`. Subqueries that yield a value or an array it never hashes.
 */
export function hashedOccurrences(select: Tree): ReadonlySet<number> {
  const numbers = new Map(tablesIn(select).map((range, i) => [range, i]));
  const joined = joinedExists(select);
  const found = new Set<number>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isHashed = type === 'SubLink' && (node.subLinkType === 'ANY_SUBLINK' || isExists(node)) && !joined.has(node);
    for (const below of isHashed ? visits(node.subselect) : []) {
      const number = numbers.get(below.node);
      if (number !== undefined) found.add(number);
    }
  }
  return found;
}

function joinedExists(select: Tree): ReadonlySet<Tree> {
  const found = new Set<Tree>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isInner = type === 'JoinExpr' && node.jointype === 'JOIN_INNER';
    for (const condition of conjuncts(type === 'SelectStmt' ? node.whereClause : isInner && node.quals)) {
      const { boolop, args } = (condition.BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
      const { SubLink: link } = boolop === 'NOT_EXPR' ? args![0]! : condition;
      if (isTree(link) && isExists(link)) found.add(link);
    }
  }
  return found;
}

function isExists({ subLinkType }: Tree): boolean {
  return subLinkType === 'EXISTS_SUBLINK';
}
