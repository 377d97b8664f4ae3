/** Change capture: the trigger function and the triggers of a synced table, as SQL text. */

import type { Table } from '../catalog/tables.js';
import { identifier, quotedText } from '../sql.js';

interface Trigger {
  readonly name: string;
  /** When it fires, and for which command. */
  readonly event: string;
  /** The SQL between the table's name and EXECUTE. */
  readonly scope: string;
}

/** Fires before the rows are removed, because a TRUNCATE of an empty table is not logged. */
const truncate: Trigger = { name: 'tidemark_truncate', event: 'before truncate', scope: 'for each statement' };

/** Fire once for each statement, with its rows in transition tables, so that bulk writes stay cheap. */
const statementTriggers: readonly Trigger[] = [
  { name: 'tidemark_insert', event: 'after insert', scope: 'referencing new table as new_rows for each statement' },
  {
    name: 'tidemark_update',
    event: 'after update',
    scope: 'referencing old table as old_rows new table as new_rows for each statement',
  },
  { name: 'tidemark_delete', event: 'after delete', scope: 'referencing old table as old_rows for each statement' },
];

/**
 * For partitioned tables. Partitions inherit row triggers from their parent, even if they are created later. Statement
 * triggers fire only for the table that a statement names, and a row that MERGE moves to another partition is in no
 * transition table (observed on Postgres 15 and 18).
 */
const rowTriggers: readonly Trigger[] = ['insert', 'update', 'delete'].map((event) => ({
  name: `tidemark_${event}`,
  event: `after ${event}`,
  scope: 'for each row',
}));

function triggersOf(table: Table): readonly Trigger[] {
  return [...(table.kind === 'p' ? rowTriggers : statementTriggers), truncate];
}

/** Returns the names of the triggers that a table, or one of its partitions, must have. */
export function triggerNames(table: Table, relation: { readonly oid: number }): string[] {
  const isRoot = relation.oid === table.oid;
  return triggersOf(table)
    .filter((trigger) => isRoot || trigger !== truncate)
    .map(({ name }) => name);
}

function captureFunctionName(id: number): string {
  return `tidemark.capture_${id}`;
}

/** The table whose changes a function captures, and how it writes their rows. */
interface Capture {
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
function rowLiteral({ id, table, isChecked }: Capture, row: string): string {
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
function partitionHasFixedTextSql(id: number): string {
  return `case when tg_relid <> tidemark.relation_of(${id}) then ${hasFixedTextSql(id)} end`;
}

/** Types with operators on the function's search path, and whose values are equal if and only if their texts are. */
const plainTypes: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'uuid']);

/** Returns SQL for a row's key. */
function keyOf({ primaryKey }: Table, row: string): string {
  return `array[${primaryKey.map(({ name }) => textOf(row, name)).join(', ')}]`;
}

function textOf(row: string, column: string): string {
  return `${row}.${identifier(column)}::text collate "C"`;
}

/** Returns the condition that two rows have equal keys. Compares texts if operators may not be on the search path. */
function sameKey({ primaryKey }: Table, a: string, operator: '=' | 'is not distinct from', b: string): string {
  return primaryKey
    .map(({ name, type }) => {
      const value = (row: string) => (plainTypes.has(type) ? `${row}.${identifier(name)}` : textOf(row, name));
      return `${value(a)} ${operator} ${value(b)}`;
    })
    .join(' and ');
}

/**
 * SQL condition: a TRUNCATE, which has locked the table, can check if it is empty. If the transaction is not READ
 * COMMITTED, its snapshot may be too old to show the rows. In a large table, the check could hold the lock for long.
 */
const mayBeFoundEmpty = `current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
      and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
      and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
        <= ${4 * 1024 * 1024}`;

/** Returns the statement that logs a row with this key, old image and new hash, without its FROM. */
function logRow({ id, table }: Capture, key: string, old: string, hash: string): string {
  const [column, partition] = table.kind === 'p' ? [', partition', ', tg_relid'] : ['', ''];
  return `insert into tidemark.change (table_id, xid, key, old, new_hash${column}) select ${id}, pg_current_xact_id(), ${key}, ${old}, ${hash}${partition}`;
}

function logDeleted(capture: Capture, row: string): string {
  return logRow(capture, keyOf(capture.table, row), imageOf(capture, row), 'null');
}

function logInserted(capture: Capture, row: string): string {
  return logRow(capture, keyOf(capture.table, row), 'null', hashOf(capture, row));
}

function logUpdated(capture: Capture, key: string, old: string, inserted: string): string {
  return logRow(capture, key, imageOf(capture, old), hashOf(capture, inserted));
}

/**
 * Returns the body of the function that writes a table's changes to the log: for each key, the old row's image and the
 * new row's hash. Statements that triggers run inside another statement are logged before that statement, so within a
 * transaction the order of the log means nothing. Instead, `stateQueries` recognizes the original row because no change
 * results in its image.
 */
function captureBody(capture: Capture): string {
  const [variables, events] =
    capture.table.kind === 'p'
      ? [rowVariables(capture), rowEvents(capture)]
      : ['  logged bigint;', statementEvents(capture)];
  return `
declare
${variables}
  is_empty boolean;
begin
${events}
  else
    if ${mayBeFoundEmpty} then
      execute format('select not exists (select from %s)', tg_relid::regclass) into is_empty;
    end if;
    if is_empty is not true then
      ${logRow(capture, 'null', 'null', 'null')};
    end if;
  end if;
  return null;
end
`;
}

/** Returns the variable declarations of a row trigger. */
function rowVariables({ id, isChecked }: Capture): string {
  const check = `  has_fixed_text constant boolean := ${partitionHasFixedTextSql(id)};\n`;
  return `${isChecked ? check : ''}  old_text text;\n  new_text text;`;
}

/** Assigns the images to variables, because PL/pgSQL evaluates an expression faster than an INSERT of one row does. */
function rowEvents(capture: Capture): string {
  const { table } = capture;
  const setText = (row: string) => `${row}_text := ${rowLiteral(capture, row)};`;
  return `  if tg_op = 'UPDATE' then
    ${setText('old')}
    ${setText('new')}
    if ${sameKey(table, 'old', '=', 'new')} then
      ${logUpdated(capture, keyOf(table, 'old'), 'old', 'new')};
    else
      ${logDeleted(capture, 'old')};
      ${logInserted(capture, 'new')};
    end if;
  elsif tg_op = 'INSERT' then
    ${setText('new')}
    ${logInserted(capture, 'new')};
  elsif tg_op = 'DELETE' then
    ${setText('old')}
    ${logDeleted(capture, 'old')};`;
}

/**
 * If a row has no counterpart in the join, the counterpart is null, and so are its image and its hash.
 *
 * The first statement handles an UPDATE of one row that keeps its key. No plan for it needs a hash table, because
 * `is not distinct from` cannot be hashed.
 *
 * One UPDATE can find or leave several rows with the same key, if the key is deferrable, or if foreign key actions,
 * which triggers see as part of the UPDATE, change a row again. The join then logs each old row of the key once for
 * each new row, and vice versa. Additional log rows cancel the surplus: old rows logged as inserted, and new rows as
 * deleted. The join has as many rows as the UPDATE if and only if it pairs each old row with one new row.
 */
function statementEvents(capture: Capture): string {
  const { table } = capture;
  const key = `array[${table.primaryKey.map(({ name }) => `coalesce(${textOf('o', name)}, ${textOf('n', name)})`).join(', ')}]`;
  const isSameKey = sameKey(table, 'o', 'is not distinct from', 'n');
  const surplus = (row: string, other: string) => {
    const rows = other === 'o' ? 'old_rows o' : 'new_rows n';
    const columns = table.primaryKey.map(({ name }, i) => `${textOf(other, name)} as k${i + 1}`).join(', ');
    const ordinals = table.primaryKey.map((_, i) => i + 1).join(', ');
    const same = table.primaryKey.map(({ name }, i) => `${textOf(row, name)} = c.k${i + 1}`).join(' and ');
    return `join (select ${columns}, count(*) as times from ${rows} group by ${ordinals}) c on ${same}
        cross join generate_series(2, c.times)`;
  };
  return `  if tg_op = 'UPDATE' then
    ${logUpdated(capture, keyOf(table, 'o'), 'o', 'n')}
    from old_rows o cross join new_rows n where not exists (select from old_rows offset 1) and ${isSameKey};
    get diagnostics logged = row_count;
    if logged = 0 then
      ${logUpdated(capture, key, 'o', 'n')}
      from old_rows o full join new_rows n on ${sameKey(table, 'o', '=', 'n')};
      get diagnostics logged = row_count;
      if logged <> (select count(*) from old_rows) then
        ${logInserted(capture, 'o')} from old_rows o ${surplus('o', 'n')};
        ${logDeleted(capture, 'n')} from new_rows n ${surplus('n', 'o')};
      end if;
    end if;
  elsif tg_op = 'INSERT' then
    ${logInserted(capture, 'n')} from new_rows n;
  elsif tg_op = 'DELETE' then
    ${logDeleted(capture, 'o')} from old_rows o;`;
}

/** With these settings, a function writes rows as `tidemark.fixed_text` does. Calling that for each row is slower. */
const fixedText = ` set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C'`;

/**
 * JIT compilation would take longer than running the statements. Row triggers do without this setting, which would be
 * applied for each row: the planner's estimates for their statements are far too low for JIT.
 */
const notCompiled = ' set jit = off';

/** The body of a capture function, and the settings that it relies on. */
export interface CaptureFunction {
  readonly body: string;
  readonly settings: string;
}

/**
 * Returns the function that captures a table's changes.
 * @param hasFixedText true if a row's text does not depend on the session's settings. A wrong value costs only time.
 */
export function captureFunction(id: number, table: Table, hasFixedText: boolean = table.hasFixedText): CaptureFunction {
  return {
    body: captureBody({ id, table, isChecked: hasFixedText }),
    settings: `${table.kind === 'p' ? '' : notCompiled}${hasFixedText ? '' : fixedText}`,
  };
}

/**
 * Returns the statements that create or replace a table's capture function. It runs as its owner, so roles that write
 * to the table need no privileges on the log.
 */
export function createCaptureFunction(id: number, table: Table): string[] {
  const name = captureFunctionName(id);
  const { body, settings } = captureFunction(id, table);
  return [
    `create or replace function ${name}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp${settings}
as ${quotedText(body)}`,
    // Otherwise any role with access to the schema could call it from its own trigger, and have the casts of its own
    // types run as the owner.
    `revoke all on function ${name}() from public`,
  ];
}

/**
 * Returns the statements that create or replace the triggers of a table and its partitions. The capture function must
 * exist. With ENABLE ALWAYS, the triggers also fire if `session_replication_role` is `replica`.
 */
export function createCaptureTriggers(id: number, table: Table): string[] {
  const relation = identifier(table.schema, table.name);
  return triggersOf(table).flatMap(({ name, event, scope }) => [
    `create or replace trigger ${name} ${event} on ${relation} ${scope} execute function ${captureFunctionName(id)}()`,
    `alter table ${relation} enable always trigger ${name}`,
  ]);
}
