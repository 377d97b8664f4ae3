/** The trigger function that captures the changes of a synced table, as SQL text. */
import type { Table } from '../../catalog/tables.js';
import { quotedText } from '../../sql.js';
import {
  type Capture,
  keyOf,
  logDeleted,
  logInserted,
  logRow,
  logUpdated,
  partitionHasFixedTextSql,
  rowLiteral,
  sameKey,
  textOf,
} from './log-statements.js';

export function captureFunctionName(id: number): string {
  return `tidemark.capture_${id}`;
}

/**
 * SQL condition: a TRUNCATE, which has locked the table, can check if it is empty. If the transaction is not READ
 * COMMITTED, its snapshot may be too old to show the rows. In a large table, the check could hold the lock for long.
 */
const mayBeFoundEmpty = `current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
      and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
      and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
        <= ${4 * 1024 * 1024}`;

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
