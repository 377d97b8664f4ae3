/**
 * Rewrites NOT IN to NOT EXISTS if no value can be null. For NOT EXISTS, Postgres can find one value with an index. For
 * NOT IN, it reads the whole subquery.
 */
import { originOf, type PrimaryKeys, primaryKeysOf } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import { isNode, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import { matchingRows } from '../compile/cohort-select.js';
import { names, type Tree, visits, visitsHere } from '../parse/tree.js';
import type { DeterminismContext } from './order.js';

export function rewriteNotIn(select: Tree, { meaning, tables }: Pick<DeterminismContext, 'meaning' | 'tables'>): void {
  const primaryKeys = primaryKeysOf(tables);
  const levels = [...visits({ SelectStmt: select })].filter(({ type }) => type === 'SelectStmt');
  for (const { node: level } of levels) {
    const query = meaning.queryOf(level);
    if (!query) continue;
    for (const { type, node } of visitsHere(level)) {
      const link = type === 'BoolExpr' && node.boolop === 'NOT_EXPR' ? linkIn(node) : undefined;
      const { SelectStmt: inner } = (link?.subselect ?? {}) as { SelectStmt: Tree };
      const { ColumnRef: tested } = (link?.testexpr ?? {}) as { ColumnRef?: Tree };
      const within = link && meaning.queryOf(inner);
      if (!tested || !within) continue;
      const variables = meaning.nodesOf(tested).filter(({ tag }) => tag === 'VAR');
      const results = targets(within);
      if (variables.length === 0 || !variables.every((variable) => isNeverNull(variable, query, primaryKeys))) continue;
      if (results.length !== 1 || !isNeverNull(results[0]!, within, primaryKeys)) continue;
      const rows = matchingRows(inner, link.testexpr as Tree);
      node.args = [{ SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: rows } } }];
    }
  }
}

/** Returns the operand of NOT, if it is IN. */
function linkIn({ args }: Tree): Tree | undefined {
  const [{ SubLink: link }] = args as [{ SubLink?: Tree }];
  const operator = names(link?.operName).at(-1) ?? '=';
  return link?.subLinkType === 'ANY_SUBLINK' && operator === '=' ? link : undefined;
}

/** True if an expression is a column of a primary key, and no outer join can fill it with nulls. */
function isNeverNull(expression: QueryNode, query: QueryNode, primaryKeys: PrimaryKeys): boolean {
  const origin = originOf(expression, query);
  const isOfKey = origin && primaryKeys.get(origin.relation)?.includes(origin.column);
  return Boolean(isOfKey) && !hasOuterJoin(query);
}

function hasOuterJoin({ fields: { jointree } }: QueryNode): boolean {
  if (!isNode(jointree)) return false;
  for (const node of joinsIn(nodeList(jointree, 'fromlist'))) if (numberOf(node, 'jointype') !== 0) return true;
  return false;
}

function joinsIn(items: readonly QueryNode[]): QueryNode[] {
  return items.flatMap((item) =>
    item.tag === 'JOINEXPR' ? [item, ...joinsIn([item.fields.larg, item.fields.rarg].filter(isNode))] : [],
  );
}
