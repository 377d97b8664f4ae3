/** An option of the installation: every commit that writes to the change log also sends a notification. */
import type { ClientBase } from 'pg';

/** The channel on which servers are notified of commits. */
export const noticeChannel = 'tidemark';

/** What is logged where notifications are wanted, and do not arrive. */
export const noNotices: string =
  'Notifications of Postgres do not arrive, as through a pooler in transaction mode. This server looks for changes ' +
  'without them; have it connect to Postgres directly, or leave out `pokes.notify`';

const installed = `
  select exists (
    select from pg_trigger where tgname = 'tidemark_notify' and tgrelid = 'tidemark.change'::regclass and tgenabled = 'A'
  ) as found`;

/** One trigger on the change log serves all tables. Postgres sends equal notifications of one transaction only once. */
const install = `
  create or replace function tidemark.notify() returns trigger language plpgsql as $$
  begin
    perform pg_notify('${noticeChannel}', '');
    return null;
  end
  $$;
  create or replace trigger tidemark_notify after insert on tidemark.change
    for each statement execute function tidemark.notify();
  alter table tidemark.change enable always trigger tidemark_notify`;

const remove = 'drop function tidemark.notify() cascade';

/** Installs or removes the notifications. Returns false if there was nothing to do. */
export async function setNotify(client: ClientBase, wanted: boolean): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(installed);
  if (rows[0]!.found === wanted) return false;
  await client.query(wanted ? install : remove);
  return true;
}
