/** Commits between the read of the change log and the statement for affected cohorts. */
import { beforeEach, expect, it, vi } from 'vitest';
import { isAffectedQuery, useNotifiers, view } from './notifying.js';

const fixture = useNotifiers(
  `create table list (id text primary key, owner_id text not null);
   create table todo (id text primary key, list_id text not null, done boolean not null default false)`,
  { todo: view('id', () => 'select * from todo where list_id in (select id from list where owner_id = $1)') },
);

beforeEach(async () => {
  await write(`
    delete from todo; delete from list;
    insert into list values ('a', 'ann'), ('b', 'ben');
    insert into todo values ('t', 'a'), ('u', 'b')`);
});

const write = (text: string) => fixture.database.pool.query(text);

/** Commits something just before the first statement for affected cohorts. */
function commitBeforeQuery(commit: string): void {
  let isDone = false;
  fixture.before = async (statement) => {
    if (isDone || !isAffectedQuery(statement)) return;
    isDone = true;
    await write(commit);
  };
}

async function subscribeBoth() {
  const { subscribe } = fixture.start();
  return [await subscribe('ann'), await subscribe('ben')] as const;
}

it('a deletion pokes even if the row that made the deleted one visible is deleted before the query', async () => {
  const [ann, ben] = await subscribeBoth();
  commitBeforeQuery(`delete from list where id = 'a'`);
  await write(`delete from todo where id = 't'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalled());
  await write(`delete from todo where id = 'u'`);
  await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledOnce());
});

it('a change pokes even if another transaction reverts it before the query', async () => {
  const [ann, ben] = await subscribeBoth();
  commitBeforeQuery(`update todo set done = false where id = 't'`);
  await write(`update todo set done = true where id = 't'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(2));
  await write(`delete from todo where id = 'u'`);
  await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledOnce());
});
