import type { Pool } from 'pg';

/** A user's data on the server, from queries that are independent of the views. */
export async function truth(pool: Pool, user: string): Promise<Record<string, unknown>> {
  const { rows } = await pool.query(
    `with mine as (select * from list l where owner_id = $1 or exists (select from share where list_id = l.id and user_id = $1))
     select 'list/' || id as key, json_build_object('id', id, 'name', name, 'ownerID', owner_id) as value from mine
     union all
     select 'todo/' || t.id,
       json_build_object('id', t.id, 'listID', list_id, 'title', title, 'done', done, 'sort', sort)
     from todo t join mine on mine.id = list_id
     union all
     select 'share/' || list_id || '/' || user_id, json_build_object('listID', list_id, 'userID', user_id)
     from share join mine on mine.id = list_id`,
    [user],
  );
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}
