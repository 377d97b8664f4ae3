/** Change capture: the trigger function and triggers of one synced table, as SQL text. */
import { identifier, quotedText } from '../sql.js';
import type { Table } from './catalog.js';

interface Trigger {
  readonly name: string;
  /** What stands between the trigger's name and ON. */
  readonly event: string;
  /** What stands between the table and EXECUTE. */
  readonly scope: string;
}

const eachStatement = 'for each statement';
const before: Trigger = { name: 'tidemark_before', event: 'before insert or update or delete', scope: eachStatement };
const update: Trigger = {
  name: 'tidemark_update',
  event: 'after update',
  scope: `referencing old table as old_rows new table as new_rows ${eachStatement}`,
};
const truncate: Trigger = { name: 'tidemark_truncate', event: 'after truncate', scope: eachStatement };

const tableTriggers: readonly Trigger[] = [
  before,
  { name: 'tidemark_insert', event: 'after insert', scope: `referencing new table as new_rows ${eachStatement}` },
  update,
  { name: 'tidemark_delete', event: 'after delete', scope: `referencing old table as old_rows ${eachStatement}` },
  truncate,
];

/**
 * A statement trigger fires for the table that the statement names, so each partition has its own.
 * A row that MERGE moves to another partition is in no transition table (seen on Postgres 15 and 18), but fires the row
 * triggers of a delete and an insert, which partitions take over from their parent.
 */
const memberTriggers: readonly Trigger[] = [before, update, truncate];
const parentTriggers: readonly Trigger[] = [
  { name: 'tidemark_row_insert', event: 'after insert', scope: 'for each row' },
  { name: 'tidemark_row_delete', event: 'after delete', scope: 'for each row' },
];

/** The names of the triggers that the table, and each of its partitions, must have. */
export function triggerNames({ kind }: Table): string[] {
  return (kind === 'p' ? [...memberTriggers, ...parentTriggers] : tableTriggers).map(({ name }) => name);
}

export function captureFunctionName(id: number): string {
  return `tidemark.capture_${id}`;
}

/**
 * The old row as a row literal of the table's type. As a whole row it follows the table through new and dropped columns;
 * partitions with another order of columns need them named.
 */
function imageOf(table: Table, row: string): string {
  const layout = JSON.stringify(table.columns);
  if (table.members.every((member) => JSON.stringify(member.columns) === layout)) return `(${row}.*)::text`;
  return namedImage(table, row);
}

function namedImage({ columns, virtualColumns }: Table, row: string): string {
  const isVirtual = (column: string) => virtualColumns.some(({ name }) => name === column);
  return `row(${columns.map((column) => (isVirtual(column) ? 'null' : `${row}.${identifier(column)}`)).join(', ')})::text`;
}

/**
 * The body of the function that writes a table's changes to the log: one row a key, with the old row's image.
 * An update that changes a key logs the old key with its image, and the new key as one that did not exist.
 *
 * What a trigger of the application's writes in turn is logged before the statement that fired it. So statements are numbered as
 * they begin, in a setting for each depth of triggers. Keys are compared as text: the type's own operators need not be on this
 * function's search path. Columns that are generated when read have no value here; `stateQueries` computes them.
 */
export function captureBody(id: number, table: Table): string {
  const key = (row: string) =>
    `array[${table.primaryKey.map(({ name }) => `${row}.${identifier(name)}::text`).join(', ')}]`;
  const bytes = (row: string, column: string) => `${row}.${identifier(column)}::text collate "C"`;
  const sameKey = table.primaryKey.map(({ name }) => `${bytes('o', name)} = ${bytes('n', name)}`).join(' and ');
  const log = 'insert into tidemark.change (table_id, xid, statement, key, old)';
  const entry = (row: string, old: string) => `${id}, pg_current_xact_id(), this_statement, ${key(row)}, ${old}`;
  return `
#variable_conflict use_variable
declare
  at_depth text := 'tidemark.statement_' || pg_trigger_depth();
  this_statement integer;
begin${table.kind === 'p' ? ifDetached(id) : ''}
  if tg_when = 'BEFORE' then
    this_statement := coalesce(nullif(current_setting('tidemark.statements', true), '')::integer, 0) + 1;
    perform set_config('tidemark.statements', this_statement::text, true), set_config(at_depth, this_statement::text, true);
    return null;
  end if;
  this_statement := coalesce(nullif(current_setting(at_depth, true), '')::integer, 0);
  case ${table.kind === 'p' ? ifRow(table, log, entry) : ''}
  when tg_op = 'INSERT' then
    ${log}
    select ${entry('n', 'null')} from new_rows n;
  when tg_op = 'UPDATE' then
    ${log}
    select ${entry('o', imageOf(table, 'o'))} from old_rows o
    union all
    select ${entry('n', 'null')} from new_rows n
    where not exists (select from old_rows o where ${sameKey});
  when tg_op = 'DELETE' then
    ${log}
    select ${entry('o', imageOf(table, 'o'))} from old_rows o;
  when tg_op = 'TRUNCATE' then
    ${log}
    values (${id}, pg_current_xact_id(), this_statement, null, null);
  end case;
  return null;
end
`;
}

/** A partition that has been detached keeps its statement triggers. */
function ifDetached(id: number): string {
  return `
  if pg_partition_root(tg_relid) is distinct from (select relation from tidemark.synced_table where id = ${id}) then
    return null;
  end if;`;
}

/** A partition's columns may come in another order than its parent's, so they are named. */
function ifRow(table: Table, log: string, entry: (row: string, old: string) => string): string {
  return `
  when tg_level = 'ROW' and tg_op = 'INSERT' then
    ${log}
    values (${entry('new', 'null')});
  when tg_level = 'ROW' and tg_op = 'DELETE' then
    ${log}
    values (${entry('old', namedImage(table, 'old'))});`;
}

/**
 * The statements that install capture on a table and its partitions, replacing what is there.
 * The function runs as its owner, so that whoever writes to the table needs no rights on the log; its settings fix how values are
 * written as text. ENABLE ALWAYS has the triggers fire in sessions that act as a replica, too. Readers go on meanwhile: only
 * writers must wait, which a DROP TRIGGER would not leave at that.
 */
export function installCapture(id: number, table: Table): string[] {
  const call = captureFunctionName(id);
  const install = (relation: string) => (trigger: Trigger) => [
    `create or replace trigger ${trigger.name} ${trigger.event} on ${relation} ${trigger.scope} execute function ${call}()`,
    `alter table ${relation} enable always trigger ${trigger.name}`,
  ];
  const onEach = table.kind === 'p' ? memberTriggers : tableTriggers;
  return [
    `create or replace function ${call}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
as ${quotedText(captureBody(id, table))}`,
    // Else whoever sees the schema could call it from a trigger of their own, and have their types' casts run as the owner.
    `revoke all on function ${call}() from public`,
    ...table.members.flatMap((member) => onEach.flatMap(install(identifier(member.schema, member.name)))),
    ...(table.kind === 'p' ? parentTriggers.flatMap(install(identifier(table.schema, table.name))) : []),
  ];
}
