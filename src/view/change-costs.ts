/** What a change of a table costs whoever pulls a view, and which indexes keep it cheap. Pure. */
import type { Table } from '../catalog/tables.js';
import type { Analysis } from './analyze.js';
import type { CompiledView } from './compile/compile.js';
import type { Strategy } from './compile/strategy.js';
import { conjuncts } from './parse/conditions.js';
import { names, type Tree, visits } from './parse/tree.js';
import type { CompanionQuery } from './partition/partition.js';

/** The most that a pull reads after a change of a table, besides the changed rows. */
export type ChangeCost = 'changed rows' | 'affected partitions' | 'whole view';

/** An index that begins with these columns, in any order. */
export interface WantedIndex {
  readonly table: Table;
  readonly columns: readonly string[];
  /** Columns that the query compares with constants: the index may have them before or between the others. */
  readonly constant: readonly string[];
}

/** What a change of one of a view's tables costs. */
export interface TableCost {
  readonly table: Table;
  readonly cost: ChangeCost;
  /** The indexes by which Postgres finds what the changed rows affect. */
  readonly indexes: readonly WantedIndex[];
}

/** The columns of tables that divide a view into partitions; empty if it has none. */
export function partitionColumns({ strategy, partition, tables }: Analysis): string[] {
  if (strategy !== 'keyed') return [];
  const telling = partition?.queries.find(({ tellsPartition }) => tellsPartition);
  return references(telling?.select.targetList).map(
    ([alias, column]) => `${tables[occurrenceOf(alias)]!.name}.${column}`,
  );
}

/** What a change costs, for each table that a view reads. */
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

/** @param queries the companion queries that look for the table's changed rows */
function costOf(strategy: Strategy, queries: readonly Pick<CompanionQuery, 'tellsPartition'>[]): ChangeCost {
  if (strategy === 'incremental') return 'changed rows';
  const isTold = strategy === 'keyed' && queries.every(({ tellsPartition }) => tellsPartition);
  return isTold ? 'affected partitions' : 'whole view';
}

/** The OIDs of the tables of which any change costs the whole view. */
export function tablesOfWholeView({ strategy, companions = [], occurrenceTables }: CompiledView): ReadonlySet<number> {
  const queriesOf = (oid: number) =>
    companions.filter(({ tables, focuses }) => focuses.some((focus) => tables[focus] === oid));
  return new Set(occurrenceTables.filter((oid) => costOf(strategy, queriesOf(oid)) === 'whole view'));
}

/** The indexes by which a join of tables is found from rows of some of them, whose own rows are known. */
function indexesFrom(known: readonly string[], query: CompanionQuery, tables: readonly Table[]): WantedIndex[] {
  const reached = new Set(known);
  const equalities = equalitiesIn(query.select.whereClause);
  const found: WantedIndex[] = [];
  for (let isMore = reached.size > 0; isMore; ) {
    isMore = false;
    for (const occurrence of query.occurrences) {
      const alias = `t${occurrence + 1}`;
      const own = equalities.filter(([[table]]) => table === alias);
      const joined = own.filter(([, other]) => other && reached.has(other[0]));
      if (reached.has(alias) || joined.length === 0) continue;
      reached.add(alias);
      const constant = own.filter(([, other]) => other === undefined);
      found.push({ table: tables[occurrence]!, columns: columnsIn(joined), constant: columnsIn(constant) });
      isMore = true;
    }
  }
  return found;
}

type Reference = readonly [alias: string, column: string];
type Equality = readonly [column: Reference, other: Reference | undefined];

function columnsIn(equalities: readonly Equality[]): string[] {
  return [...new Set(equalities.map(([[, column]]) => column))];
}

/** The columns that conjuncts compare with another, or with a constant, both ways. */
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

/** A companion query names each table after its occurrence. */
function occurrenceOf(alias: string): number {
  return Number(alias.slice(1)) - 1;
}

function distinct(indexes: readonly WantedIndex[]): WantedIndex[] {
  const idOf = ({ table, columns }: WantedIndex) => JSON.stringify([table.oid, [...columns].sort()]);
  return [...new Map(indexes.map((index) => [idOf(index), index])).values()];
}
