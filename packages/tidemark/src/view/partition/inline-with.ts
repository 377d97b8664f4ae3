/** Replaces references to WITH queries by the queries themselves. Pure: tree in, tree out. */
import { cloneTree, isTree, type Tree } from '../parse/tree.js';

/** The WITH queries in scope, by name. */
type Queries = ReadonlyMap<string, Tree>;

/**
 * Returns undefined if a WITH query is recursive, or may depend on an outer query, because its names could then mean
 * something else where it is read. Returns a query without WITH unchanged.
 */
export function inlineWith(select: Tree): Tree | undefined {
  if (!hasWith(select)) return select;
  const tree = cloneTree(select);
  return inlineIn(tree, new Map(), false) ? tree : undefined;
}

function hasWith(value: unknown): boolean {
  return isTree(value) && (value.withClause !== undefined || Object.values(value).some(hasWith));
}

/** @param isInner true within an expression or LATERAL, where a query can depend on the outer one */
function inlineIn(select: Tree, outer: Queries, isInner: boolean): boolean {
  const clause = select.withClause as { recursive?: boolean; ctes: { CommonTableExpr: Tree }[] } | undefined;
  if (clause && isInner) return false;
  const queries = new Map(outer);
  for (const { CommonTableExpr: cte } of clause?.ctes ?? []) {
    const { SelectStmt: query } = cte.ctequery as { SelectStmt?: Tree };
    if (clause!.recursive || !query || cte.search_clause || cte.cycle_clause || !inlineIn(query, queries, isInner)) {
      return false;
    }
    queries.set(cte.ctename as string, cte);
  }
  delete select.withClause;
  return Object.entries(select).every(([field, value]) =>
    field === 'larg' || field === 'rarg'
      ? inlineIn(value as Tree, queries, isInner)
      : inlineBelow(value, queries, isInner),
  );
}

function inlineBelow(value: unknown, queries: Queries, isInner: boolean): boolean {
  if (!isTree(value)) return true;
  const range = value.RangeVar as Tree | undefined;
  const cte = range && range.schemaname === undefined ? queries.get(range.relname as string) : undefined;
  if (cte) {
    delete value.RangeVar;
    value.RangeSubselect = subselect(range!, cte);
    return true;
  }
  return Object.entries(value).every(([key, child]) => {
    const isInnerChild = isInner || key === 'SubLink' || (isTree(child) && child.lateral === true);
    return key === 'SelectStmt' ? inlineIn(child as Tree, queries, isInner) : inlineBelow(child, queries, isInnerChild);
  });
}

function subselect(range: Tree, cte: Tree): Tree {
  const alias = (range.alias ?? {}) as Tree;
  const own = (alias.colnames ?? []) as Tree[];
  const named = (cte.aliascolnames ?? []) as Tree[];
  // Column aliases of a reference replace the first column names of the WITH query.
  const colnames = [...own, ...named.slice(own.length)];
  return {
    subquery: cloneTree(cte.ctequery as Tree),
    alias: { aliasname: alias.aliasname ?? range.relname, ...(colnames.length > 0 && { colnames }) },
  };
}
