/** Optional notifications: every transaction that writes to the change log sends one at commit. */
import type { ClientBase } from 'pg';

/** The channel on which Postgres notifies servers of commits. */
export const noticeChannel = 'tidemark';

/** The log message if notifications are enabled but do not arrive. */
export const noNotices: string =
  'Notifications of Postgres do not arrive, as through a pooler in transaction mode. This server polls for changes ' +
  'without them; have it connect to Postgres directly, or leave out `pokes.notify`';

const isInstalledSql = `
  select exists (
    select from pg_trigger where tgname = 'tidemark_notify' and tgrelid = 'tidemark.change'::regclass and tgenabled = 'A'
  ) as "isInstalled"`;

/** One trigger on the change log serves all tables. Postgres sends equal notifications of one transaction only once. */
const installSql = `
  create or replace function tidemark.notify() returns trigger language plpgsql as $$
  begin
    perform pg_notify('${noticeChannel}', '');
    return null;
  end
  $$;
  create or replace trigger tidemark_notify after insert on tidemark.change
    for each statement execute function tidemark.notify();
  alter table tidemark.change enable always trigger tidemark_notify`;

const removeSql = 'drop function tidemark.notify() cascade';

/** Installs or removes the trigger that notifies. Returns false if there was nothing to do. */
export async function setNotify(client: ClientBase, enabled: boolean): Promise<boolean> {
  const { rows } = await client.query<{ isInstalled: boolean }>(isInstalledSql);
  if (rows[0]!.isInstalled === enabled) return false;
  await client.query(enabled ? installSql : removeSql);
  return true;
}
