/** The statements by which a capture function writes changed rows to the change log, as SQL text. */
import type { Table } from '../../catalog/tables.js';
import { identifier } from '../../sql.js';

/** The table whose changes a function captures, and how it writes their rows. */
export interface Capture {
  /** The table's ID in the change log. */
  readonly id: number;
  readonly table: Table;
  /** True for a function without the settings `fixedText`. */
  readonly isChecked: boolean;
}

/**
 * Returns SQL for a row literal of the whole row, which stays correct when columns are added or dropped. The row of a
 * partition has the partition's own column order. Virtual generated columns have no value in it. Without `fixedText`, a
 * column whose text depends on settings can be added at any time.
 */
export function rowLiteral({ id, table, isChecked }: Capture, row: string): string {
  const plain = `(${row}.*)::text`;
  const hasFixedText = table.kind === 'p' ? 'has_fixed_text' : hasFixedTextSql(id);
  return isChecked ? `case when ${hasFixedText} then ${plain} else tidemark.fixed_text(${row}.*) end` : plain;
}

/** Returns SQL for a row's image: its literal, which row triggers have in a variable. */
function imageOf(capture: Capture, row: string): string {
  return capture.table.kind === 'p' ? `${row}_text` : rowLiteral(capture, row);
}

function hashOf(capture: Capture, row: string): string {
  return `hashtextextended(${imageOf(capture, row)}, 0)`;
}

/**
 * Returns an SQL expression that the planner evaluates, for statement triggers. Their statements read the table, so
 * Postgres plans them again after an ALTER TABLE.
 */
function hasFixedTextSql(id: number): string {
  return `tidemark.has_fixed_text(${id})`;
}

/** For row triggers. Their statements read no table, so a comparison that is always true makes them depend on it. */
export function partitionHasFixedTextSql(id: number): string {
  return `case when tg_relid <> tidemark.relation_of(${id}) then ${hasFixedTextSql(id)} end`;
}

/** Types with operators on the function's search path, and whose values are equal if and only if their texts are. */
const plainTypes: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'uuid']);

/** Returns SQL for a row's key. */
export function keyOf({ primaryKey }: Table, row: string): string {
  return `array[${primaryKey.map(({ name }) => textOf(row, name)).join(', ')}]`;
}

export function textOf(row: string, column: string): string {
  return `${row}.${identifier(column)}::text collate "C"`;
}

/** Returns the condition that two rows have equal keys. Compares texts if operators may not be on the search path. */
export function sameKey({ primaryKey }: Table, a: string, operator: '=' | 'is not distinct from', b: string): string {
  return primaryKey
    .map(({ name, type }) => {
      const value = (row: string) => (plainTypes.has(type) ? `${row}.${identifier(name)}` : textOf(row, name));
      return `${value(a)} ${operator} ${value(b)}`;
    })
    .join(' and ');
}

/** Returns the statement that logs a row with this key, old image and new hash, without its FROM. */
export function logRow({ id, table }: Capture, key: string, old: string, hash: string): string {
  const [column, partition] = table.kind === 'p' ? [', partition', ', tg_relid'] : ['', ''];
  return `insert into tidemark.change (table_id, xid, key, old, new_hash${column}) select ${id}, pg_current_xact_id(), ${key}, ${old}, ${hash}${partition}`;
}

export function logDeleted(capture: Capture, row: string): string {
  return logRow(capture, keyOf(capture.table, row), imageOf(capture, row), 'null');
}

export function logInserted(capture: Capture, row: string): string {
  return logRow(capture, keyOf(capture.table, row), 'null', hashOf(capture, row));
}

export function logUpdated(capture: Capture, key: string, old: string, inserted: string): string {
  return logRow(capture, key, imageOf(capture, old), hashOf(capture, inserted));
}
