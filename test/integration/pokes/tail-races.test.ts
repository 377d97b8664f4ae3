/** What is committed between reading the change log and asking whom it concerns. */
import { beforeEach, expect, it, vi } from 'vitest';
import { isQuestion, useTailed, view } from './tailed.js';

const tailed = useTailed(
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

const write = (text: string) => tailed.database.pool.query(text);

/** Commits something just before it is asked whom the first change concerns. */
function commitBeforeQuestion(commit: string): void {
  let isDone = false;
  tailed.before = async (statement) => {
    if (isDone || !isQuestion(statement)) return;
    isDone = true;
    await write(commit);
  };
}

async function listen() {
  const { listen } = tailed.start();
  return [await listen('ann'), await listen('ben')] as const;
}

it('a row that goes is told of, though what made it visible goes before it is asked about', async () => {
  const [ann, ben] = await listen();
  commitBeforeQuestion(`delete from list where id = 'a'`);
  await write(`delete from todo where id = 't'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalled());
  await write(`delete from todo where id = 'u'`);
  await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledOnce());
});

it('a change is judged by itself, though another transaction takes it back before it is asked about', async () => {
  const [ann, ben] = await listen();
  commitBeforeQuestion(`update todo set done = false where id = 't'`);
  await write(`update todo set done = true where id = 't'`);
  await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(2));
  await write(`delete from todo where id = 'u'`);
  await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledOnce());
});
