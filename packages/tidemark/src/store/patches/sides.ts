/** A view's rows before and after changes to its tables, as queries over the tables' states. */
import type { CompiledView } from '../../view/compile/compile.js';
import type { TableState } from '../../view/compile/rewrite.js';
import type { Restriction } from '../../view/partition/restrict.js';
import { type CompanionQuery, companionQueries, isAnyChanged } from './companion-queries.js';
import { oldRowsSubsetQueries, type SyncedTable, states, statesAsOf } from './states.js';
import { distinctByKey, everyRowOf, isIn, rowsOf } from './view-rows.js';

/**
 * The queries yield native key columns `tidemark_k1…`, the client's key, and the value as JSON text. The conditions are
 * about such a row `b`. A view's query within a condition sees the columns of `b`, so it would read such a column
 * instead of whole rows of a table with the same name.
 */
export interface Sides {
  /**
   * The partitions that the changes affect, numbered from 0 in the column `tidemark_index`, or one row if the changes
   * may affect any of the view's rows. Undefined for an incremental view.
   */
  readonly affected?: string | undefined;
  /** An SQL condition: a column of the partition in a row `tidemark_c` is null. */
  readonly hasNull?: string | undefined;
  /**
   * For an incremental view, the rows that may have left it or changed. For any other view, all rows as of the
   * snapshot, restricted to what `affected` yields.
   */
  readonly before: Side;
  /** For an incremental view, the rows that may have entered it or changed. For any other view, `before` as of now. */
  readonly after: Side;
  /** For an incremental view, an SQL condition: the row's key is in it for a reason other than the removed one. */
  readonly isThere: string;
}

/** Queries for the rows of a side. An undefined query yields none. */
export interface Side {
  /** For each row `tidemark_c` of `affected`, the rows of this partition, or all rows if there are no partitions. */
  readonly each?: string | undefined;
  /** `each` for partitions whose columns may be null. */
  readonly eachOfNulls?: string | undefined;
  /**
   * The rows of the partitions in a query `tidemark_c`, none of whose columns is null. If undefined, all partitions are
   * evaluated one by one, however many there are.
   */
  readonly group?: string | undefined;
  /** The rows that the side has because of all partitions in a query `tidemark_c`, if these are few. */
  readonly few?: string | undefined;
  /** The rows that the side has because of all partitions in a query `tidemark_c`, if these are many. */
  readonly many?: string | undefined;
}

/**
 * Returns the sides of a view; undefined if none of its tables has changed.
 * @param values SQL expressions for the query's parameters
 * @param tables the changed tables, by OID
 */
export function sidesOf(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
): Sides | undefined {
  if (!view.occurrenceTables.some((oid) => tables.has(oid))) return undefined;
  const asOf = statesAsOf(view.occurrenceTables, tables);
  if (view.strategy !== 'incremental') return affectedSides(view, values, tables, asOf);
  return {
    before: { each: distinctByKey(view, focusedRows(view, values, tables, states.oldRows, states.asOf)) },
    after: { each: distinctByKey(view, focusedRows(view, values, tables, states.newRows)) },
    isThere: isIn(view, view.now, values),
  };
}

/**
 * An SQL condition: for an incremental view, the row was in it, with this value, for a reason other than the new one.
 * Few deltas need it.
 */
export function wasThere(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
): string {
  if (view.strategy !== 'incremental') return 'false';
  const asOf = view.variants.atStates(statesAsOf(view.occurrenceTables, tables));
  return isIn(view, asOf, values, `${view.valueSql} = b.tidemark_value`);
}

function affectedSides(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  asOf: readonly TableState[],
): Sides {
  const addedQueries = companionQueries(view, values, tables, states.newRows, () => 'now');
  const removedQueries = companionQueries(view, values, tables, states.numberedOldRows, states.asOf);
  const isDivided = view.strategy === 'keyed' && removedQueries.every(({ identifiesPartition }) => identifiesPartition);
  const now = asOf.map(() => 'now' as const);
  if (!isDivided) {
    const whole = (tableStates: readonly TableState[]): Side => ({
      each: fenced(rowsOf(view, view.variants.atStates(tableStates), values, 'tidemark_c.tidemark_r')),
    });
    const affected = `select true as tidemark_r where ${isAnyChanged(view, [...addedQueries, ...removedQueries])}`;
    return { affected, before: whole(asOf), after: whole(now), isThere: 'false' };
  }
  const { hasFirstRows } = view.variants;
  const readTables = hasFirstRows ? [] : [...new Set(view.occurrenceTables)].flatMap((oid) => tables.get(oid) ?? []);
  const nulls = view.nullable.flatMap((can, i) => (can ? [`tidemark_c.tidemark_r${i + 1} is null`] : []));
  const partitionedSides = {
    affected: affectedPartitions(view, addedQueries, removedQueries, readTables),
    hasNull: nulls.length > 0 ? nulls.join(' or ') : undefined,
    isThere: 'false',
  };
  if (hasFirstRows) {
    const all = rowsOf(view, view.variants.atStates(asOf), values);
    const few = rowsOf(view, view.variants.firstRows(asOf), values);
    const after = rowsOf(view, view.variants.atStates(now), values);
    return { ...partitionedSides, before: { few, many: all }, after: { few: after, many: after } };
  }
  const side = (tableStates: readonly TableState[], oldRows: (isRead: (column: string) => string) => string): Side => {
    const restricted = (restriction: Restriction) =>
      rowsOf(view, view.variants.atStates(tableStates, [], restriction), values);
    const ofOne = oldRows((column) => `m.tidemark_row = any (tidemark_c.${column})`);
    return {
      each: ofOne + fenced(restricted('one')),
      eachOfNulls: partitionedSides.hasNull && ofOne + fenced(restricted('one with nulls')),
      group:
        oldRows((column) => `m.tidemark_row in (select unnest(c.${column}) from tidemark_c c)`) + restricted('all'),
    };
  };
  // The old rows that a partition depends on are those by which the companion queries find it.
  const withOldRows = (isRead: (column: string) => string) =>
    `with ${readTables.flatMap((table) => oldRowsSubsetQueries(table, isRead(rowsColumn(table.id)))).join(',\n')}\n`;
  const beforeStates = view.occurrenceTables.map((oid, i): TableState => {
    const id = tables.get(oid)?.id;
    return id === undefined || view.hashed.has(i) ? asOf[i]! : states.someAsOf(id);
  });
  return { ...partitionedSides, before: side(beforeStates, withOldRows), after: side(now, () => '') };
}

/** The partitions, each with an array for each changed table: the numbers of the old rows on which it depended. */
function affectedPartitions(
  { nullable }: CompiledView,
  addedQueries: readonly CompanionQuery[],
  removedQueries: readonly CompanionQuery[],
  tables: readonly SyncedTable[],
): string {
  const columns = nullable.map((_, i) => `tidemark_r${i + 1}`).join(', ');
  const changes = [
    ...addedQueries.map(
      ({ query }) => `select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (\n${query}\n) p`,
    ),
    ...removedQueries.map(({ query, id }) => `select p.*, ${id} from (\n${query}\n) p`),
  ];
  const rows = tables.map(
    ({ id }) => `, pg_catalog.array_agg(tidemark_row) filter (where tidemark_table = ${id}) as ${rowsColumn(id)}`,
  );
  return `select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select ${columns}${rows.join('')} from (\n${changes.join('\nunion all\n')}\n) p group by ${columns}
) p`;
}

/** The column with the numbers of a table's old rows. */
function rowsColumn(id: number): string {
  return `tidemark_rows_${id}`;
}

/** OFFSET 0 makes Postgres evaluate the query for one partition after the other, with the partition as a constant. */
function fenced(query: string): string {
  return `select r.* from (\n${query}\n) r offset 0`;
}

/**
 * An SQL condition: a row of a changed table, in one of its states, leads to a row that may be in the view, or on which
 * the view's rows depend.
 */
export function isConcerned(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  otherState: (id: number) => TableState,
): string {
  if (view.strategy === 'incremental') return `exists (\n${focusedRows(view, values, tables, state, otherState)}\n)`;
  return `(${isAnyChanged(view, companionQueries(view, values, tables, state, otherState))})`;
}

/**
 * The rows of an incremental view that derive from a row of a changed table in one of its states. There is a query for
 * each set of occurrences of such tables (see `focusSets`).
 * @param otherState the state that the other occurrences of changed tables read. Default: now
 */
function focusedRows(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  otherState: (id: number) => TableState = () => 'now',
): string {
  const changed = view.occurrenceTables.map((oid) => tables.get(oid)?.id);
  const tableStates = changed.map((id): TableState => (id === undefined ? 'now' : otherState(id)));
  const sets = view.variants.focusSets(changed.map((id) => id !== undefined));
  const queries = sets.map((focuses) => {
    const focused = tableStates.map((tableState, i) => (focuses.includes(i) ? state(changed[i]!) : tableState));
    return everyRowOf(view, view.variants.atStates(focused, focuses), values);
  });
  return queries.join('\nunion all\n');
}
