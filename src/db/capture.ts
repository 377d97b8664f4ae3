/** Change capture: the trigger function and triggers of one synced table, as SQL text. */
import { identifier, quotedText } from '../sql.js';
import type { Table } from './catalog.js';

const triggers = [
  { name: 'tidemark_insert', event: 'insert', referencing: 'referencing new table as new_rows' },
  {
    name: 'tidemark_update',
    event: 'update',
    referencing: 'referencing old table as old_rows new table as new_rows',
  },
  { name: 'tidemark_delete', event: 'delete', referencing: 'referencing old table as old_rows' },
  { name: 'tidemark_truncate', event: 'truncate', referencing: '' },
] as const;

export const triggerNames: readonly string[] = triggers.map((trigger) => trigger.name);

export function captureFunctionName(id: number): string {
  return `tidemark.capture_${id}`;
}

/**
 * A row as a row literal of the table's type. As a whole row it follows the table through new and dropped columns;
 * partitions with another order of columns need them named.
 */
function imageOf(table: Table, alias: string): string {
  const layout = JSON.stringify(table.columns);
  const alike = table.members.every((member) => JSON.stringify(member.columns) === layout);
  return alike
    ? `(${alias}.*)::text`
    : `row(${table.columns.map((column) => `${alias}.${identifier(column)}`).join(', ')})::text`;
}

/**
 * The body of the function that writes a table's changes to the log: of each key the old row's image and the new row's hash.
 * A statement that a trigger runs inside another one is logged before it, so the order of the log says nothing within a
 * transaction; that an image is not also the outcome of a change does.
 */
export function captureBody(id: number, table: Table): string {
  const key = (alias: string) =>
    `array[${table.primaryKey.map(({ name }) => `${alias}.${identifier(name)}::text`).join(', ')}]`;
  const oldImage = imageOf(table, 'o');
  const newHash = `hashtextextended(${imageOf(table, 'n')}, 0)`;
  const sameKey = table.primaryKey.map(({ name }) => `o.${identifier(name)} = n.${identifier(name)}`).join(' and ');
  const isOld = `o.${identifier(table.primaryKey[0]!.name)} is not null`;
  const isNew = `n.${identifier(table.primaryKey[0]!.name)} is not null`;
  const log = `insert into tidemark.change (table_id, xid, key, old, new_hash) select ${id}, pg_current_xact_id()`;
  const inserted = `${log}, ${key('n')}, null, ${newHash} from new_rows n;`;
  const deleted = `${log}, ${key('o')}, ${oldImage}, null from old_rows o;`;
  const updated = table.keysMayRepeat
    ? `${deleted} ${inserted}`
    : `${log}, case when ${isOld} then ${key('o')} else ${key('n')} end,
      case when ${isOld} then ${oldImage} end, case when ${isNew} then ${newHash} end
    from old_rows o full join new_rows n on ${sameKey};`;
  return `
begin
  case tg_op
  when 'INSERT' then
    ${inserted}
  when 'UPDATE' then
    ${updated}
  when 'DELETE' then
    ${deleted}
  when 'TRUNCATE' then
    ${log}, null, null, null;
  end case;
  return null;
end
`;
}

/**
 * The statements that install capture on a table and its partitions, replacing what is there.
 * The function runs as its owner, so that whoever writes to the table needs no rights on the log; its settings fix how values are
 * written as text, alike in every session. ENABLE ALWAYS has the triggers fire in sessions that act as a replica, too.
 */
export function installCapture(id: number, table: Table): string[] {
  const call = captureFunctionName(id);
  return [
    `create or replace function ${call}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C'
as ${quotedText(captureBody(id, table))}`,
    ...table.members.flatMap((member) => {
      const relation = identifier(member.schema, member.name);
      return triggers.flatMap(({ name, event, referencing }) => [
        `drop trigger if exists ${name} on ${relation}`,
        `create trigger ${name} after ${event} on ${relation} ${referencing} for each statement execute function ${call}()`,
        `alter table ${relation} enable always trigger ${name}`,
      ]);
    }),
  ];
}
