/** An option of the installation: every commit that the change log sees also sends a notification. */
import type { ClientBase } from 'pg';

/** The channel on which servers learn that something was committed. */
export const noticeChannel = 'tidemark';

const installed = `
  select exists (
    select from pg_trigger where tgname = 'tidemark_notify' and tgrelid = 'tidemark.change'::regclass and tgenabled = 'A'
  ) as found`;

/** One trigger on the change log serves all tables. Equal notifications of one transaction are sent once. */
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

/** Installs or removes the notifications. Returns false when they were as wanted. */
export async function setNotify(client: ClientBase, wanted: boolean): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(installed);
  if (rows[0]!.found === wanted) return false;
  await client.query(wanted ? install : remove);
  return true;
}
