/** The companion queries of a view: joins of its tables that find what changed rows affect. Pure. */
import { allOf } from '../parse/conditions.js';
import { type Tree, visits } from '../parse/tree.js';
import { refTo } from './flatten/conditions.js';
import type { Column, FlatJoin, JoinedTable } from './flatten/joins.js';

/** A query that finds the partitions that changes of some tables affect. */
export interface CompanionQuery {
  /** A join of tables. It yields the partition's columns `tidemark_r1…`, or none if it identifies no partition. */
  readonly select: Tree;
  /** For each table in the join, its number among the tables that the view's query reads. */
  readonly occurrences: readonly number[];
  /** The indexes of the tables in the join whose changed rows it reads. */
  readonly focuses: readonly number[];
  /** False if the changes may affect any partition. */
  readonly identifiesPartition: boolean;
}

/** Returns the queries that find what changes of a join's tables affect. Tables with equal connections share one. */
export function companionsOf(join: FlatJoin, columns: readonly Column[] = []): CompanionQuery[] {
  const queries = new Map<string, CompanionQuery>();
  for (const table of join.tables.filter(({ isFocus }) => isFocus)) {
    const near = connected([table.alias], join);
    const goals = columns.map(({ alias }) => alias);
    const isNear = goals.every((alias) => near.has(alias));
    const identifiesPartition = goals.length > 0 && (isNear || join.isRare);
    const reached = identifiesPartition && !isNear ? connected([table.alias, ...goals], join) : near;
    const tables = join.tables.filter(({ alias }) => reached.has(alias));
    const id = `${tables.map(({ alias }) => alias)} ${identifiesPartition}`;
    const query = queries.get(id) ?? companionOf(join, tables, identifiesPartition ? columns : []);
    queries.set(id, { ...query, focuses: [...query.focuses, tables.indexOf(table)] });
  }
  return [...queries.values()];
}

function companionOf(join: FlatJoin, tables: readonly JoinedTable[], columns: readonly Column[]): CompanionQuery {
  const has = new Set(tables.map(({ alias }) => alias));
  const conditions = join.conditions.filter((condition) => aliasesIn(condition).every((alias) => has.has(alias)));
  return {
    select: {
      ...(columns.length > 0 && { targetList: columns.map(resultOf) }),
      fromClause: tables.map(({ range }) => ({ RangeVar: range })),
      ...(conditions.length > 0 && { whereClause: allOf(conditions) }),
      limitOption: 'LIMIT_OPTION_DEFAULT',
      op: 'SETOP_NONE',
    },
    occurrences: tables.map(({ occurrence }) => occurrence),
    focuses: [],
    identifiesPartition: columns.length > 0,
  };
}

function resultOf(column: Column, i: number): Tree {
  return { ResTarget: { name: `tidemark_r${i + 1}`, val: refTo(column) } };
}

/** Returns these tables and all that conditions connect with them. */
function connected(aliases: readonly string[], { conditions }: FlatJoin): ReadonlySet<string> {
  const reached = new Set(aliases);
  const groups = conditions.map(aliasesIn);
  let before: number;
  do {
    before = reached.size;
    for (const group of groups) {
      if (group.some((alias) => reached.has(alias))) for (const alias of group) reached.add(alias);
    }
  } while (reached.size > before);
  return reached;
}

function aliasesIn(condition: Tree): string[] {
  return [...visits(condition)]
    .filter(({ type }) => type === 'ColumnRef')
    .map(({ node }) => (node.fields as { String: { sval: string } }[])[0]!.String.sval);
}
