/** Change capture: the trigger function and the triggers of a synced table, as SQL text. */

import type { Table } from '../catalog/tables.js';
import { identifier, quotedText } from '../sql.js';

interface Trigger {
  readonly name: string;
  /** When it is called, and for what. */
  readonly event: string;
  /** The SQL between the table's name and EXECUTE. */
  readonly scope: string;
}

/** Called before the rows go, because a TRUNCATE that finds none is not logged. */
const truncate: Trigger = { name: 'tidemark_truncate', event: 'before truncate', scope: 'for each statement' };

/** Called once for each statement, with its rows in transition tables, so that bulk writes stay cheap. */
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
 * For partitioned tables. Partitions get row triggers from their parent, even if they are created later. Statement
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

/** The names of the triggers that a table, or one of its partitions, must have. */
export function triggerNames(table: Table, member: { readonly oid: number }): string[] {
  const own = member.oid === table.oid;
  return triggersOf(table)
    .filter((trigger) => own || trigger !== truncate)
    .map(({ name }) => name);
}

function captureFunctionName(id: number): string {
  return `tidemark.capture_${id}`;
}

/**
 * A row as a row literal. Since it is a whole row, it stays right when columns are added or dropped. The row of a
 * partition has the partition's own column order. Virtual generated columns have no value here.
 */
type RowImage = (row: string) => string;

/** For a function that has the settings `fixedText`. */
const plainImage: RowImage = (row) => `(${row}.*)::text`;

/** For a function without them: a column whose text depends on settings may be added at any time. */
function checkedImage(hasFixedText: string): RowImage {
  return (row) => `case when ${hasFixedText} then ${plainImage(row)} else tidemark.fixed_text(${row}.*) end`;
}

/**
 * An SQL expression that the planner evaluates. The statements of statement triggers read the table, so Postgres plans them
 * again after an ALTER TABLE.
 */
function hasFixedTextSql(id: number): string {
  return `tidemark.has_fixed_text(${id})`;
}

/** The same for row triggers, whose statements read no table: the comparison, which is always true, names it. */
function partitionHasFixedTextSql(id: number): string {
  return `case when tg_relid <> tidemark.relation_of(${id}) then ${hasFixedTextSql(id)} end`;
}

/** Types whose values are equal if and only if their texts are, with operators on the function's search path. */
const plainTypes: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'uuid']);

/** A row's key. */
function keyOf({ primaryKey }: Table, row: string): string {
  return `array[${primaryKey.map(({ name }) => textOf(row, name)).join(', ')}]`;
}

function textOf(row: string, column: string): string {
  return `${row}.${identifier(column)}::text collate "C"`;
}

/** An SQL condition: two rows have the same key. It compares texts where a type's operators may not be on the search path. */
function sameKey({ primaryKey }: Table, a: string, operator: '=' | 'is not distinct from', b: string): string {
  return primaryKey
    .map(({ name, type }) => {
      const value = (row: string) => (plainTypes.has(type) ? `${row}.${identifier(name)}` : textOf(row, name));
      return `${value(a)} ${operator} ${value(b)}`;
    })
    .join(' and ');
}

/**
 * Whether a TRUNCATE, which has locked the table, may look whether it has rows: the snapshot of a transaction that is not
 * READ COMMITTED may be too early to show them, and in a large table, the search could hold the lock for long.
 */
const mayBeFoundEmpty = `current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
      and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
      and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
        <= ${4 * 1024 * 1024}`;

/**
 * The body of the function that writes a table's changes to the log: for each key, the old row's image and the new
 * row's hash. A statement that a trigger runs inside another statement is logged first, so the order of the log means
 * nothing within a transaction. Instead, `stateQueries` recognizes the original row by its image, which is not also the
 * outcome of a change.
 */
function captureBody(id: number, table: Table, isChecked: boolean): string {
  const isPartitioned = table.kind === 'p';
  const check = isPartitioned ? 'has_fixed_text' : hasFixedTextSql(id);
  const toText = isChecked ? checkedImage(check) : plainImage;
  const imageOf: RowImage = isPartitioned ? (row) => `${row}_text` : toText;
  const [column, partition] = isPartitioned ? [', partition', ', tg_relid'] : ['', ''];
  const log = `insert into tidemark.change (table_id, xid, key, old, new_hash${column})`;
  const entry = (key: string, old: string, hash: string) =>
    `${log} select ${id}, pg_current_xact_id(), ${key}, ${old}, ${hash}${partition}`;
  const hash = (row: string) => `hashtextextended(${imageOf(row)}, 0)`;
  const gone = (row: string) => entry(keyOf(table, row), imageOf(row), 'null');
  const made = (row: string) => entry(keyOf(table, row), 'null', hash(row));
  const changed = (key: string, old: string, made: string) => entry(key, imageOf(old), hash(made));
  const entries = { gone, made, changed };
  const [variables, events] = isPartitioned
    ? [rowVariables(id, isChecked), rowEvents(table, toText, entries)]
    : ['  logged bigint;', statementEvents(table, entries)];
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
      ${entry('null', 'null', 'null')};
    end if;
  end if;
  return null;
end
`;
}

/** The variables of a row trigger. */
function rowVariables(id: number, isChecked: boolean): string {
  const check = `  has_fixed_text constant boolean := ${partitionHasFixedTextSql(id)};\n`;
  return `${isChecked ? check : ''}  old_text text;\n  new_text text;`;
}

interface Entries {
  readonly gone: (row: string) => string;
  readonly made: (row: string) => string;
  readonly changed: (key: string, old: string, made: string) => string;
}

/** PL/pgSQL evaluates an expression faster than an INSERT of one row does, so it makes the images. */
function rowEvents(table: Table, toText: RowImage, { gone, made, changed }: Entries): string {
  const setText = (row: string) => `${row}_text := ${toText(row)};`;
  return `  if tg_op = 'UPDATE' then
    ${setText('old')}
    ${setText('new')}
    if ${sameKey(table, 'old', '=', 'new')} then
      ${changed(keyOf(table, 'old'), 'old', 'new')};
    else
      ${gone('old')};
      ${made('new')};
    end if;
  elsif tg_op = 'INSERT' then
    ${setText('new')}
    ${made('new')};
  elsif tg_op = 'DELETE' then
    ${setText('old')}
    ${gone('old')};`;
}

/**
 * A row that has no counterpart in the join is null, and so are its image and its hash.
 *
 * The first statement is for the UPDATE of one row that keeps its key: it needs no hash table, whatever plan was made, since
 * `is not distinct from` cannot be hashed.
 *
 * One UPDATE may find or leave several rows with the same key: if the key is deferrable, or if actions of foreign keys,
 * which triggers see as part of the UPDATE, change a row again. Then the join logs each old row of the key as many times as
 * there are new ones, and each new row as many times as there are old ones. More log rows cancel the surplus: an old row
 * that is logged as made, and a new row that is logged as gone. The join has as many rows as the UPDATE if and only if it
 * pairs each old row with one new row.
 */
function statementEvents(table: Table, { gone, made, changed }: Entries): string {
  const key = `array[${table.primaryKey.map(({ name }) => `coalesce(${textOf('o', name)}, ${textOf('n', name)})`).join(', ')}]`;
  const isSameKey = sameKey(table, 'o', 'is not distinct from', 'n');
  const surplus = (row: string, other: string) => {
    const rows = other === 'o' ? 'old_rows o' : 'new_rows n';
    const columns = table.primaryKey.map(({ name }, i) => `${textOf(other, name)} as k${i + 1}`).join(', ');
    const places = table.primaryKey.map((_, i) => i + 1).join(', ');
    const same = table.primaryKey.map(({ name }, i) => `${textOf(row, name)} = c.k${i + 1}`).join(' and ');
    return `join (select ${columns}, count(*) as times from ${rows} group by ${places}) c on ${same}
        cross join generate_series(2, c.times)`;
  };
  return `  if tg_op = 'UPDATE' then
    ${changed(keyOf(table, 'o'), 'o', 'n')}
    from old_rows o cross join new_rows n where not exists (select from old_rows offset 1) and ${isSameKey};
    get diagnostics logged = row_count;
    if logged = 0 then
      ${changed(key, 'o', 'n')}
      from old_rows o full join new_rows n on ${sameKey(table, 'o', '=', 'n')};
      get diagnostics logged = row_count;
      if logged <> (select count(*) from old_rows) then
        ${made('o')} from old_rows o ${surplus('o', 'n')};
        ${gone('n')} from new_rows n ${surplus('n', 'o')};
      end if;
    end if;
  elsif tg_op = 'INSERT' then
    ${made('n')} from new_rows n;
  elsif tg_op = 'DELETE' then
    ${gone('o')} from old_rows o;`;
}

/** The settings of a function that writes rows as `tidemark.fixed_text` does, which would take longer for each row. */
const fixedText = ` set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C'`;

/**
 * Compiling the statements would take longer than running them. A row trigger would set it for each row; its statements
 * cost next to nothing by the planner's estimate.
 */
const notCompiled = ' set jit = off';

/** A capture function: its body, and the settings that the body relies on. */
export interface CaptureFunction {
  readonly body: string;
  readonly settings: string;
}

/**
 * The function that captures a table.
 * @param hasFixedText true if a row's text is the same whatever the session's settings. A wrong answer costs time, and
 *   nothing else.
 */
export function captureFunction(id: number, table: Table, hasFixedText: boolean = table.hasFixedText): CaptureFunction {
  return {
    body: captureBody(id, table, hasFixedText),
    settings: `${table.kind === 'p' ? '' : notCompiled}${hasFixedText ? '' : fixedText}`,
  };
}

/**
 * The statements that create or replace a table's capture function. It runs as its owner, so that those who write to the
 * table need no privileges on the log.
 */
export function createCaptureFunction(id: number, table: Table): string[] {
  const name = captureFunctionName(id);
  const { body, settings } = captureFunction(id, table);
  return [
    `create or replace function ${name}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp${settings}
as ${quotedText(body)}`,
    // Otherwise anyone with access to the schema could call it from their own trigger, and have the casts of their own
    // types run as the owner.
    `revoke all on function ${name}() from public`,
  ];
}

/**
 * The statements that create or replace the triggers of a table and its partitions, for the function that there is. With
 * ENABLE ALWAYS, they also fire in sessions that act as a replica.
 */
export function createCaptureTriggers(id: number, table: Table): string[] {
  const relation = identifier(table.schema, table.name);
  return triggersOf(table).flatMap(({ name, event, scope }) => [
    `create or replace trigger ${name} ${event} on ${relation} ${scope} execute function ${captureFunctionName(id)}()`,
    `alter table ${relation} enable always trigger ${name}`,
  ]);
}
