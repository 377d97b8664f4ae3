/** Finds the columns of each table that decide which keys a view has. */
import { returnsSet } from './expressions.js';
import { type Field, isNode, nodeList, numberOf, type QueryNode } from './query-tree.js';
import type { ReadColumns } from './read-columns.js';

interface Column {
  readonly relation: number;
  readonly column: number;
}

/**
 * Returns the columns that a query reads at any depth, except those that it reads only for values of its result.
 * @param key the columns of the result that identify a row
 */
export function decidingColumns(query: QueryNode, key: readonly string[], reads: ReadColumns): ReadColumns {
  const targetList = nodeList(query, 'targetList').filter((target) => decides(target, key));
  const deciding = [...columnsIn({ ...query, fields: { ...query.fields, targetList } }, [])];
  return new Map(
    [...reads.keys()].map((relation) => {
      const columns = deciding.filter((one) => one.relation === relation).map(({ column }) => column);
      return [relation, [...new Set(columns)].sort((a, b) => a - b)];
    }),
  );
}

/**
 * Checks whether a column of the result decides which keys there are: it belongs to the key, the query sorts, groups or
 * deduplicates by it, or it turns one row into several.
 */
function decides({ fields }: QueryNode, key: readonly string[]): boolean {
  return key.includes(fields.resname as string) || fields.ressortgroupref !== '0' || returnsSet(fields.expr ?? null);
}

/**
 * Yields the columns of tables that a part of a query refers to.
 * @param queries the queries that contain the part, innermost first
 */
function* columnsIn(field: Field | undefined, queries: readonly QueryNode[]): Generator<Column> {
  if (Array.isArray(field)) for (const child of field) yield* columnsIn(child, queries);
  if (!isNode(field)) return;
  if (field.tag === 'VAR') yield* columnsOf(field, queries);
  const within = field.tag === 'QUERY' ? [field, ...queries] : queries;
  for (const [name, child] of Object.entries(field.fields)) {
    // A join lists all columns of what it joins, referenced or not.
    if (name !== 'joinaliasvars') yield* columnsIn(child, within);
  }
}

/** Yields the columns that a variable refers to, through joins. A subquery's own variables yield its columns. */
function* columnsOf(variable: QueryNode, queries: readonly QueryNode[]): Generator<Column> {
  const level = numberOf(variable, 'varlevelsup')!;
  const entry = nodeList(queries[level]!, 'rtable')[numberOf(variable, 'varno')! - 1]!;
  const column = numberOf(variable, 'varattno')!;
  const relation = numberOf(entry, 'relid');
  if (relation) yield { relation, column };
  const joined = nodeList(entry, 'joinaliasvars');
  yield* columnsIn(column === 0 ? joined : joined[column - 1], queries.slice(level));
}
