/** A table in FROM as a join. Pure. */
import { namesOf, nodeList, numberOf, type QueryNode } from '../../analysis/query-tree.js';
import { tableOf } from '../../determinism/qualify.js';
import type { Tree } from '../../parse/tree.js';
import { emptyJoin, type Join } from './joins.js';
import type { QueryContext } from './resolve.js';

/**
 * Returns the join that consists of one table.
 * @param range the table's RangeVar
 * @param node the same item of FROM in the analyzed query
 * @returns undefined if the RangeVar names no table, but a WITH query
 */
export function joinOfTable(
  range: Tree,
  node: QueryNode,
  query: QueryNode,
  { occurrences, namedTables }: QueryContext,
): Join | undefined {
  const occurrence = occurrences.get(range);
  if (occurrence === undefined) return undefined;
  const { primaryKey } = tableOf(range, namedTables);
  const alias = `t${occurrence + 1}`;
  const number = numberOf(node, 'rtindex')!;
  const names = namesOf(nodeList(query, 'rtable')[number - 1]!).columns as string[];
  const columns = names.map((name, i) => ({
    alias,
    name,
    isNotNull: primaryKey.some(({ attnum }) => attnum === i + 1),
  }));
  const aliased = { ...range, alias: { ...(range.alias as Tree | undefined), aliasname: alias } };
  return {
    ...emptyJoin,
    tables: [{ range: aliased, alias, occurrence, isFocus: true }],
    columns: new Map([[number, columns]]),
  };
}
