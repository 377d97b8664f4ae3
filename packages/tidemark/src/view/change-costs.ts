/** The cost of a table's changes for the clients that pull a view, and the indexes that keep it low. Pure. */
import type { Table } from '../catalog/tables.js';
import type { Analysis } from './analyze.js';
import type { CompiledView } from './compile/compile.js';
import type { Strategy } from './compile/strategy.js';
import { conjuncts } from './parse/conditions.js';
import { names, type Tree, visits } from './parse/tree.js';
import type { CompanionQuery } from './partition/companions.js';

/** The most that a pull reads after a change of a table, in addition to the changed rows. */
export type ChangeCost = 'changed rows' | 'affected partitions' | 'whole view';

/** A required index. It begins with these columns, in any order. */
export interface RequiredIndex {
  readonly table: Table;
  readonly columns: readonly string[];
  /** Columns that the query compares with constants. The index may have them before or between the other columns. */
  readonly constant: readonly string[];
}

/** The cost of a change of one of a view's tables. */
export interface TableCost {
  readonly table: Table;
  readonly cost: ChangeCost;
  /** The indexes with which Postgres finds what the changed rows affect. */
  readonly indexes: readonly RequiredIndex[];
}

/** Returns the columns of tables that divide a view into partitions; none if it has no partitions. */
export function partitionColumns({ strategy, partition, tables }: Analysis): string[] {
  if (strategy !== 'keyed') return [];
  const partitionQuery = partition?.queries.find(({ identifiesPartition }) => identifiesPartition);
  return references(partitionQuery?.select.targetList).map(
    ([alias, column]) => `${tables[occurrenceOf(alias)]!.name}.${column}`,
  );
}

/** Returns the cost of a change for each table that a view reads. */
export function costsOf(analysis: Analysis): TableCost[] {
  const { tables, partition } = analysis;
  const queries = partition?.queries ?? [];
  return [...new Set(tables)].map((table) => {
    const focused = queries.flatMap((query) => {
      const focuses = query.focuses.filter((focus) => tables[query.occurrences[focus]!] === table);
      return focuses.map((focus) => ({ query, focus }));
    });
    const indexes = focused.flatMap(({ query, focus }) => [
      ...indexesFrom([aliasAt(query, focus)], query, tables),
      ...indexesFrom(
        references(query.select.targetList).map(([alias]) => alias),
        query,
        tables,
      ),
    ]);
    const queriesOfTable = focused.map(({ query }) => query);
    return { table, cost: costOf(analysis.strategy, queriesOfTable), indexes: distinct(indexes) };
  });
}

/** @param queries the companion queries that read the table's changed rows */
function costOf(strategy: Strategy, queries: readonly Pick<CompanionQuery, 'identifiesPartition'>[]): ChangeCost {
  if (strategy === 'incremental') return 'changed rows';
  const isPartitioned = strategy === 'keyed' && queries.every(({ identifiesPartition }) => identifiesPartition);
  return isPartitioned ? 'affected partitions' : 'whole view';
}

/** Returns the OIDs of the tables for which any change costs the whole view. */
export function tablesOfWholeView({ strategy, companions = [], occurrenceTables }: CompiledView): ReadonlySet<number> {
  const queriesOf = (oid: number) =>
    companions.filter(({ tables, focuses }) => focuses.some((focus) => tables[focus] === oid));
  return new Set(occurrenceTables.filter((oid) => costOf(strategy, queriesOf(oid)) === 'whole view'));
}

/** Returns the indexes that Postgres needs to find a join's rows, starting from known rows of some of its tables. */
function indexesFrom(
  knownAliases: readonly string[],
  query: CompanionQuery,
  tables: readonly Table[],
): RequiredIndex[] {
  const reached = new Set(knownAliases);
  const equalities = equalitiesIn(query.select.whereClause);
  const indexes: RequiredIndex[] = [];
  for (let isMore = reached.size > 0; isMore; ) {
    isMore = false;
    for (const occurrence of query.occurrences) {
      const alias = `t${occurrence + 1}`;
      const aliasEqualities = equalities.filter(([[table]]) => table === alias);
      const joined = aliasEqualities.filter(([, other]) => other && reached.has(other[0]));
      if (reached.has(alias) || joined.length === 0) continue;
      reached.add(alias);
      const constant = aliasEqualities.filter(([, other]) => other === undefined);
      indexes.push({ table: tables[occurrence]!, columns: columnsIn(joined), constant: columnsIn(constant) });
      isMore = true;
    }
  }
  return indexes;
}

type Reference = readonly [alias: string, column: string];
type Equality = readonly [column: Reference, other: Reference | undefined];

function columnsIn(equalities: readonly Equality[]): string[] {
  return [...new Set(equalities.map(([[, column]]) => column))];
}

/** Finds the conjuncts that equate a column with another column, in both directions, or with a constant. */
function equalitiesIn(condition: unknown): Equality[] {
  return conjuncts(condition).flatMap((part) => {
    const { kind, name, lexpr, rexpr } = (part.A_Expr ?? {}) as Tree;
    if (kind !== 'AEXPR_OP' || names(name).at(-1) !== '=') return [];
    const [[left], [right]] = [references(lexpr), references(rexpr)];
    return [...(left ? [[left, right] as const] : []), ...(right ? [[right, left] as const] : [])];
  });
}

function references(value: unknown): Reference[] {
  return [...visits({ value })]
    .filter(({ type }) => type === 'ColumnRef')
    .map(({ node }) => names(node.fields) as unknown as Reference);
}

function aliasAt({ occurrences }: CompanionQuery, focus: number): string {
  return `t${occurrences[focus]! + 1}`;
}

/** The aliases in a companion query contain the number of the table's occurrence. */
function occurrenceOf(alias: string): number {
  return Number(alias.slice(1)) - 1;
}

function distinct(indexes: readonly RequiredIndex[]): RequiredIndex[] {
  const idOf = ({ table, columns }: RequiredIndex) => JSON.stringify([table.oid, [...columns].sort()]);
  return [...new Map(indexes.map((index) => [idOf(index), index])).values()];
}
