/** A view's rows before and after changes to its tables, as queries over the tables' states. */
import { identifier } from '../../sql.js';
import type { CompiledView } from '../../view/compile/compile.js';
import { rowsAsV } from '../../view/compile/evaluated-once.js';
import type { Stand } from '../../view/compile/rewrite.js';
import { render, type Template } from '../../view/parse/template.js';
import type { Restriction } from '../../view/partition/restrict.js';
import { type SyncedTable, someOldRows, states } from './states.js';

/**
 * The queries yield native key columns `tidemark_k1…`, the client's key, and the value as JSON text; the conditions are
 * about such a row `b`. A view's query within a condition sees the columns of `b`, and would mistake them for whole
 * rows of its own tables of such a name.
 */
export interface Sides {
  /**
   * The partitions that the changes affect, numbered from 0 in the column `tidemark_place`, or one row if the changes may
   * affect any of the view's rows. Undefined for an incremental view.
   */
  readonly affected?: string | undefined;
  /** An SQL condition: a column of the partition in a row `tidemark_c` is null. */
  readonly hasNull?: string | undefined;
  /**
   * For an incremental view, the rows that may have left it or changed; for any other view, all rows as of the snapshot
   * that `affected` is about.
   */
  readonly before: Side;
  /** For an incremental view, the rows that may have entered it or changed; for any other view, as `before`, now. */
  readonly after: Side;
  /**
   * For an incremental view, whether the row was in it anyway, with this value, for a reason other than the one that is
   * new. Written only on demand: most deltas do without.
   */
  readonly wasThere: () => string;
  /** For an incremental view, whether the row's key is in it anyway, for a reason other than the one that is gone. */
  readonly isThere: string;
}

/** Queries for the rows of a side. Those that are undefined have none. */
export interface Side {
  /** For each row `tidemark_c` of `affected`: the rows of this partition, or all rows if there are no partitions. */
  readonly each?: string | undefined;
  /** The same, where columns of the partition may be null. */
  readonly eachOfNulls?: string | undefined;
  /**
   * The rows of the partitions in a query `tidemark_c`, none of whose columns is null. Where it is undefined, no number of
   * partitions is many.
   */
  readonly group?: string | undefined;
  /** The rows that the side has because of all partitions in a query `tidemark_c`, if there are some, and not many. */
  readonly few?: string | undefined;
  /** The same, if there are many. */
  readonly many?: string | undefined;
}

/**
 * The sides of a view; undefined if none of its tables has changed.
 * @param values SQL expressions for the query's parameters
 * @param tables those that have changed, by OID
 */
export function sidesOf(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
): Sides | undefined {
  const changed = view.occurrenceTables.map((oid) => tables.get(oid)?.id);
  if (changed.every((id) => id === undefined)) return undefined;
  const asof = changed.map((id): Stand => (id === undefined ? 'now' : states.asof(id)));
  if (view.strategy !== 'incremental') return affectedSides(view, values, tables, asof);
  return {
    before: { each: distinctByKey(view, focusedRows(view, values, tables, states.minus, states.asof)) },
    after: { each: distinctByKey(view, focusedRows(view, values, tables, states.plus)) },
    wasThere: () => isIn(view, view.standing(asof), values, `${view.valueSql} = b.tidemark_value`),
    isThere: isIn(view, view.now, values),
  };
}

function affectedSides(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  asof: readonly Stand[],
): Sides {
  const entered = companionChanges(view, values, tables, states.plus, () => 'now');
  const left = companionChanges(view, values, tables, states.old, states.asof);
  const isDivided = view.strategy === 'keyed' && left.every(({ tellsPartition }) => tellsPartition);
  const now = asof.map(() => 'now' as const);
  const base = { wasThere: () => 'false', isThere: 'false' };
  if (!isDivided) {
    const whole = (stands: readonly Stand[]): Side => ({
      each: fenced(rowsOf(view, view.standing(stands), values, 'tidemark_c.tidemark_r')),
    });
    const affected = `select true as tidemark_r where ${isAnyChanged(view, [...entered, ...left])}`;
    return { ...base, affected, before: whole(asof), after: whole(now) };
  }
  const read = view.firstRows ? [] : [...new Set(view.occurrenceTables)].flatMap((oid) => tables.get(oid) ?? []);
  const nulls = view.nullable.flatMap((can, i) => (can ? [`tidemark_c.tidemark_r${i + 1} is null`] : []));
  const divided = {
    ...base,
    affected: affectedPartitions(view, entered, left, read),
    hasNull: nulls.length > 0 ? nulls.join(' or ') : undefined,
  };
  if (view.firstRows) {
    const all = rowsOf(view, view.standing(asof), values);
    const few = rowsOf(view, view.firstRows(asof), values);
    const after = rowsOf(view, view.standing(now), values);
    return { ...divided, before: { few, many: all }, after: { few: after, many: after } };
  }
  const side = (stands: readonly Stand[], oldRows: (isRead: (column: string) => string) => string): Side => {
    const restricted = (restriction: Restriction) => rowsOf(view, view.standing(stands, [], restriction), values);
    const ofOne = oldRows((column) => `m.tidemark_row = any (tidemark_c.${column})`);
    return {
      each: ofOne + fenced(restricted('one')),
      eachOfNulls: divided.hasNull && ofOne + fenced(restricted('one with nulls')),
      group:
        oldRows((column) => `m.tidemark_row in (select unnest(c.${column}) from tidemark_c c)`) + restricted('all'),
    };
  };
  // The old rows that a partition depends on are those that the companion queries find it by.
  const own = (isRead: (column: string) => string) =>
    `with ${read.flatMap((table) => someOldRows(table, isRead(rowsColumn(table.id)))).join(',\n')}\n`;
  const ownAsof = view.occurrenceTables.map((oid, i): Stand => {
    const id = tables.get(oid)?.id;
    return id === undefined || view.hashed.has(i) ? asof[i]! : states.someAsof(id);
  });
  return { ...divided, before: side(ownAsof, own), after: side(now, () => '') };
}

/** The partitions, each with arrays of the numbers of the old rows that it depended on, one for each changed table. */
function affectedPartitions(
  { nullable }: CompiledView,
  entered: readonly Change[],
  left: readonly Change[],
  tables: readonly SyncedTable[],
): string {
  const columns = nullable.map((_, i) => `tidemark_r${i + 1}`).join(', ');
  const changes = [
    ...entered.map(
      ({ query }) => `select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (\n${query}\n) p`,
    ),
    ...left.map(({ query, id }) => `select p.*, ${id} from (\n${query}\n) p`),
  ];
  const rows = tables.map(
    ({ id }) => `, pg_catalog.array_agg(tidemark_row) filter (where tidemark_table = ${id}) as ${rowsColumn(id)}`,
  );
  return `select p.*, pg_catalog.row_number() over () - 1 as tidemark_place from (
  select ${columns}${rows.join('')} from (\n${changes.join('\nunion all\n')}\n) p group by ${columns}
) p`;
}

/** The column with the numbers of a table's old rows. */
function rowsColumn(id: number): string {
  return `tidemark_rows_${id}`;
}

/** OFFSET 0 has Postgres evaluate the query for one partition after the other, with the partition as a constant. */
function fenced(query: string): string {
  return `select r.* from (\n${query}\n) r offset 0`;
}

/** An SQL condition: one of the companions' changes exists. Any change may matter to a view without companions. */
function isAnyChanged({ companions }: CompiledView, changes: readonly Change[]): string {
  return companions ? changes.map(({ query }) => `exists (\n${query}\n)`).join(' or ') : 'true';
}

/** What a companion query finds by the changed rows of the table with an ID. */
interface Change {
  readonly query: string;
  readonly id: number;
  readonly tellsPartition: boolean;
}

/**
 * The changes of a view's companions that derive from a row of a changed table in one of its states.
 * @param others the state that other occurrences of changed tables read
 */
function companionChanges(
  { companions = [] }: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  others: (id: number) => Stand,
): Change[] {
  return companions.flatMap(({ tables: joined, focuses, tellsPartition, standing }) => {
    const changed = joined.map((oid) => tables.get(oid)?.id);
    return focuses.flatMap((focus) => {
      const id = changed[focus];
      if (id === undefined) return [];
      const stands = changed.map((at, i): Stand => (at === undefined ? 'now' : i === focus ? state(at) : others(at)));
      const isNumbered = tellsPartition && state === states.old;
      return [{ query: render(standing(stands, isNumbered ? focus : undefined), values), id, tellsPartition }];
    });
  });
}

/**
 * An SQL condition: a row that may be one of the view's, or one that these depend on, derives from a row of a changed table
 * in one of its states.
 */
export function isConcerned(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  others: (id: number) => Stand,
): string {
  if (view.strategy === 'incremental') return `exists (\n${focusedRows(view, values, tables, state, others)}\n)`;
  return `(${isAnyChanged(view, companionChanges(view, values, tables, state, others))})`;
}

/**
 * The rows of an incremental view that derive from a row of a changed table in one of its states: a query for each set
 * of occurrences of such tables (see `focusSets`).
 * @param others the state that the other occurrences of changed tables read. Default: now
 */
function focusedRows(
  view: CompiledView,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  state: (id: number) => string,
  others: (id: number) => Stand = () => 'now',
): string {
  const changed = view.occurrenceTables.map((oid) => tables.get(oid)?.id);
  const stands = changed.map((id): Stand => (id === undefined ? 'now' : others(id)));
  const sets = view.focusSets(changed.map((id) => id !== undefined));
  const queries = sets.map((focuses) => {
    const focused = stands.map((stand, i) => (focuses.includes(i) ? state(changed[i]!) : stand));
    return everyRowOf(view, view.standing(focused, focuses), values);
  });
  return queries.join('\nunion all\n');
}

/**
 * OFFSET 0 makes Postgres look up the row key by key instead of joining. Keys that Postgres considers equal can differ
 * for the client: letters in a case-insensitive collation, for example.
 */
function isIn(view: CompiledView, query: Template, values: readonly string[], also = 'true'): string {
  const sameKey = view.keyColumns.map((column, i) => `v.${identifier(column)} = b.tidemark_k${i + 1}`).join(' and ');
  return `exists (
    select from (\n${render(query, values)}\n) v where ${sameKey} and ${view.keySql(values)} = b.tidemark_key and ${also} offset 0
  )`;
}

/** The rows of a query as native key columns `tidemark_k1…`, the client's key, and the value as JSON text. */
export function rowsOf(view: CompiledView, query: Template, values: readonly string[], condition?: string): string {
  const rows = everyRowOf(view, query, values, condition);
  if (view.keysMayRepeat) return oneOfEachKey(view, rows);
  return view.choosesByKey ? chosen(view, rows) : rows;
}

/** The same with all rows that share a key, even if one is to be chosen. */
export function everyRowOf(view: CompiledView, query: Template, values: readonly string[], condition?: string): string {
  const keys = view.keyColumns.map((column, i) => `v.${identifier(column)} as tidemark_k${i + 1}`);
  return `select ${keys.join(', ')}, ${view.keySql(values)} as tidemark_key, ${view.valueSql} as tidemark_value from ${rowsAsV(view, render(query, values), condition)}`;
}

/** The least of the rows that share a key. */
function chosen(view: CompiledView, rows: string): string {
  const keys = nativeKeys(view).join(', ');
  return `select distinct on (${keys}) ${rowColumns(view)} from (\n${rows}\n) e
order by ${keys}, tidemark_key collate "C", tidemark_value collate "C"`;
}

/** The least of the rows that share the client's key. Native keys can be equal where those are not: see `isIn`. */
function oneOfEachKey(view: CompiledView, rows: string): string {
  const key = 'tidemark_key collate "C"';
  return `select distinct on (${key}) ${rowColumns(view)} from (\n${rows}\n) e
order by ${key}, tidemark_value collate "C"`;
}

function distinctByKey(view: CompiledView, rows: string): string {
  return `select distinct on (tidemark_key) ${rowColumns(view)} from (\n${rows}\n) r`;
}

function nativeKeys(view: CompiledView): string[] {
  return view.keyColumns.map((_, i) => `tidemark_k${i + 1}`);
}

/** The columns of a view's rows, as an SQL list. */
export function rowColumns(view: CompiledView): string {
  return [...nativeKeys(view), 'tidemark_key', 'tidemark_value'].join(', ');
}
