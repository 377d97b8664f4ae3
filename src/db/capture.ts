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
 * The old row as a row literal of the table's type. As a whole row it follows the table through new and dropped columns;
 * partitions with another order of columns need them named.
 */
function imageOf(table: Table): string {
  const layout = JSON.stringify(table.columns);
  const alike = table.members.every((member) => JSON.stringify(member.columns) === layout);
  return alike ? 'o::text' : `row(${table.columns.map((column) => `o.${identifier(column)}`).join(', ')})::text`;
}

/**
 * The body of the function that writes a table's changes to the log: one row a key, with the old row's image.
 * An update that changes a key logs the old key with its image, and the new key as one that did not exist.
 */
export function captureBody(id: number, table: Table): string {
  const key = (alias: string) =>
    `array[${table.primaryKey.map(({ name }) => `${alias}.${identifier(name)}::text`).join(', ')}]`;
  const image = imageOf(table);
  const sameKey = table.primaryKey.map(({ name }) => `o.${identifier(name)} = n.${identifier(name)}`).join(' and ');
  const log = 'insert into tidemark.change (table_id, xid, key, old)';
  return `
begin
  case tg_op
  when 'INSERT' then
    ${log}
    select ${id}, pg_current_xact_id(), ${key('n')}, null from new_rows n;
  when 'UPDATE' then
    ${log}
    select ${id}, pg_current_xact_id(), ${key('o')}, ${image} from old_rows o
    union all
    select ${id}, pg_current_xact_id(), ${key('n')}, null from new_rows n
    where not exists (select from old_rows o where ${sameKey});
  when 'DELETE' then
    ${log}
    select ${id}, pg_current_xact_id(), ${key('o')}, ${image} from old_rows o;
  when 'TRUNCATE' then
    ${log}
    values (${id}, pg_current_xact_id(), null, null);
  end case;
  return null;
end
`;
}

/**
 * The statements that install capture on a table and its partitions, replacing what is there.
 * The function runs as its owner, so that whoever writes to the table needs no rights on the log; its settings fix how values are
 * written as text. ENABLE ALWAYS has the triggers fire in sessions that act as a replica, too.
 */
export function installCapture(id: number, table: Table): string[] {
  const call = captureFunctionName(id);
  return [
    `create or replace function ${call}() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
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
