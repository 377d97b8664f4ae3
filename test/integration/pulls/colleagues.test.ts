/** Users who see the same rows, each by a view of their own: one statement reads for all, and keeps them apart. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../../src/sql.js';
import { defineView, type Views } from '../../../src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, type PullAnswer, PullServer } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

/** A list is seen by its members; a member's note about it, by the member alone. */
const ddl = `
  create table list (id text primary key, name text not null);
  create table member (list_id text not null, user_id text not null, note text not null default '', primary key (list_id, user_id));
  create index on member (user_id)`;

const views: Views<Context> = {
  list: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select * from list where id in (select list_id from member where user_id = ${ctx.userID})`,
  }),
  note: defineView<{ list_id: string }>({
    key: 'list_id',
    query: ({ ctx }) => sql`select list_id, note from member where user_id = ${ctx.userID}`,
  }),
};

const sizes = (ctx: Context) => sql<{
  list_id: string;
}>`select m.list_id, count(*) as members from member m where exists (
  select from member own where own.list_id = m.list_id and own.user_id = ${ctx.userID}) group by m.list_id`;

const size: Views<Context> = {
  size: defineView<{ list_id: string }>({ key: 'list_id', query: ({ ctx }) => sizes(ctx) }),
};
/** The first of them. */
const first = (limit: ReturnType<typeof sql>): Views<Context> => ({
  size: defineView<{ list_id: string }>({
    key: 'list_id',
    query: ({ ctx }) => sql`select * from (${sizes(ctx)}) size order by list_id ${limit}`,
  }),
});

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;

const users = Array.from({ length: 240 }, (_, i) => `user ${i}`);
const run = (text: string) => database.pool.query(text);

beforeAll(async () => {
  database = await createSynced(ddl, { ...views, ...size });
});
afterAll(() => database.drop());

function serve(served: Views<Context>): void {
  watched = new WatchedDatabase();
  server = new PullServer(database.url, served, watched.watch);
}

beforeEach(async () => {
  await run(`
    truncate list, member, tidemark.client, tidemark.client_group;
    insert into list values ('shared', 'Shared'), ('even', 'Even');
    insert into member select 'shared', 'user ' || n from generate_series(0, 239) n;
    insert into member select 'even', 'user ' || n from generate_series(0, 239, 2) n`);
});
afterEach(() => server.close());

type Held = Map<string, { cookie: unknown }>;

async function pull(userID: string, cookie: unknown): Promise<PullAnswer> {
  return server.pull(cookie, { clientGroupID: `group of ${userID}` }, userID);
}

/** A first pull of each, and then another, so that the window knows their groups. */
async function connect(names: readonly string[]): Promise<Held> {
  const held: Held = new Map();
  for (const name of names) held.set(name, await pull(name, null));
  await pullAll(held);
  watched.take();
  return held;
}

async function pullAll(held: Held): Promise<Map<string, PullAnswer>> {
  const answers = await Promise.all(
    [...held].map(async ([name, { cookie }]) => [name, await pull(name, cookie)] as const),
  );
  for (const [name, answer] of answers) held.set(name, answer);
  return new Map(answers);
}

const isEven = (name: string) => Number(name.slice('user '.length)) % 2 === 0;

describe('after one change', () => {
  beforeEach(() => serve(views));

  it('one look and one delta serve 240 users, and each gets what their own parameters yield', async () => {
    const held = await connect(users);
    await run(`update list set name = 'Canary' where id = 'even'`);
    const answers = await pullAll(held);
    expect(watched.take()).toEqual(['look', 'delta']);
    for (const [name, { patch }] of answers) {
      const put = { op: 'put', key: 'list/even', value: { id: 'even', name: 'Canary' } };
      expect(patch, name).toEqual(isEven(name) ? [put] : []);
    }
    // Those for whom the delta was empty have kept their cookies. Both kinds meet again.
    await run(`update member set note = 'canary of ' || user_id where right(user_id, 1) in ('6', '7')`);
    for (const [name, { patch }] of await pullAll(held)) {
      const text = JSON.stringify(patch);
      const ids = name.endsWith('6') ? ['even', 'shared'] : name.endsWith('7') ? ['shared'] : [];
      expect(patch.map((op) => op.op !== 'clear' && op.key).sort()).toEqual(ids.map((id) => `note/${id}`));
      for (const canary of text.matchAll(/canary of user \d+/g)) expect(canary[0]).toBe(`canary of ${name}`);
    }
  });

  it('who comes and who goes is told each for themselves', async () => {
    const held = await connect(users.slice(0, 40));
    await run(`
      begin;
      delete from member where list_id = 'even' and user_id in ('user 0', 'user 2');
      insert into member values ('even', 'user 1'), ('even', 'user 3');
      commit`);
    const answers = await pullAll(held);
    expect(watched.take()).toEqual(['look', 'delta']);
    for (const [name, { patch }] of answers) {
      const ops = patch.map((op) => `${op.op} ${op.op !== 'clear' && op.key}`).sort();
      if (['user 0', 'user 2'].includes(name)) expect(ops).toEqual(['del list/even', 'del note/even']);
      else if (['user 1', 'user 3'].includes(name)) expect(ops).toEqual(['put list/even', 'put note/even']);
      else expect(ops).toEqual([]);
    }
  });

  it('changes of other tables in between do not part them', async () => {
    await run('create table if not exists elsewhere (id serial primary key)');
    const held = await connect(users.slice(0, 20));
    for (const name of users.slice(0, 10)) {
      await run('insert into elsewhere default values');
      await run(`update member set note = note || '.' where user_id = '${name}'`);
      held.set(name, await pull(name, held.get(name)!.cookie));
    }
    await pullAll(held);
    await run(`update list set name = 'Changed' where id = 'shared'`);
    watched.take();
    const answers = await pullAll(held);
    expect(watched.take()).toEqual(['look', 'delta']);
    for (const { patch } of answers.values()) expect(patch).toMatchObject([{ key: 'list/shared' }]);
  });

  it('who has not seen an earlier change gets it too, by a statement of its own', async () => {
    const held = await connect(users.slice(0, 20));
    const late = new Map([...held].slice(0, 5));
    await run(`update list set name = 'One' where id = 'shared'`);
    const early = new Map([...held].slice(5));
    await pullAll(early);
    watched.take();
    await run(`update member set note = 'two' where user_id <> ''`);
    const answers = await pullAll(new Map([...late, ...early]));
    for (const [name, { patch }] of answers) {
      expect(patch.some((op) => op.op !== 'clear' && op.key === 'list/shared')).toBe(late.has(name));
    }
  });

  it('users with the same parameters are one seat', async () => {
    const names = ['ada', 'ben', 'cyd'];
    await server.close();
    const everybody = defineView<{ id: string }>({ key: 'id', query: () => sql`select * from list` });
    serve({ everybody });
    const held = await connect(names);
    await run(`update list set name = 'Changed'`);
    for (const { patch } of (await pullAll(held)).values()) expect(patch).toHaveLength(2);
    const [, delta] = watched.statements;
    expect(delta!.text).not.toContain('tidemark_seats');
    expect(watched.take()).toEqual(['look', 'delta']);
  });

  it('who gets more than can be yielded for all is served alone', async () => {
    await run(`insert into list select 'l' || n, repeat('x', 30000) from generate_series(1, 300) n;
      insert into member select 'l' || n, 'user 1' from generate_series(1, 300) n where n > 50`);
    const held = await connect(users.slice(0, 3));
    await run(
      `update list set name = name || '!' where id in (select 'l' || n from generate_series(51, 140) n) or id = 'shared'`,
    );
    const sizes = [...(await pullAll(held)).values()].map(({ patch }) => patch.length);
    expect(sizes).toEqual([1, 91, 1]);
    expect(watched.take()).toEqual(['look', 'delta']);
    await run(`insert into member select 'l' || n, 'user 2' from generate_series(1, 90) n;
      update list set name = repeat('y', 60000) where id in (select 'l' || n from generate_series(51, 140) n)`);
    const again = [...(await pullAll(held)).values()].map(({ patch }) => patch.length);
    expect(again).toEqual([0, 90, 180]);
    expect(watched.take()).toContain('copy');
  });
});

describe('nothing of their own', () => {
  beforeEach(() => serve(views));

  it('is read for who has nothing new: their look is for all', async () => {
    const held = await connect(users.slice(0, 50));
    await run('create table if not exists elsewhere (id serial primary key)');
    for (let round = 0; round < 3; round++) {
      await run('insert into elsewhere default values');
      const answers = await pullAll(held);
      for (const { patch } of answers.values()) expect(patch).toEqual([]);
      expect(watched.take()).toEqual(['look']);
    }
  });

  it('is read where a window begins later than their cookies, but once', async () => {
    const held = await connect(users.slice(0, 3));
    await server.close();
    serve(views);
    await pullAll(held);
    expect(watched.take().sort()).toEqual(['look', 'probe', 'probe', 'probe']);
    await pullAll(held);
    expect(watched.take()).toEqual(['look']);
  });
});

it('a value that one user’s view cannot compute is no matter to the others', async () => {
  const forbidden = (name: string) => (name === 'user 7' ? 'Zeros'.length : 10);
  const share = defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select id, 100 / (length(name) - ${forbidden(ctx.userID)}) as share from list`,
  });
  serve({ share });
  const held = await connect(users.slice(0, 10));
  await run(`update list set name = 'Zeros' where id = 'shared'`);
  const answers = await Promise.allSettled([...held].map(([name, { cookie }]) => pull(name, cookie)));
  expect(answers.map(({ status }) => status)).toEqual(
    users.slice(0, 10).map((name) => (name === 'user 7' ? 'rejected' : 'fulfilled')),
  );
  for (const answer of answers) {
    if (answer.status === 'rejected') continue;
    expect(answer.value.patch).toEqual([{ op: 'put', key: 'share/shared', value: { id: 'shared', share: -20 } }]);
  }
});

describe('views that are not incremental', () => {
  const told = (isTold: boolean, value: object) =>
    isTold ? [{ op: 'put', key: 'size/even', value: { list_id: 'even', ...value } }] : [];

  it.each([
    ['share a statement if they are keyed', size, ['look', 'delta']],
    ['share a statement if they are for the first rows', first(sql`limit 10`), ['look', 'delta']],
    [
      'share a statement, by twenties, if they are compared as a whole',
      first(sql`fetch first 10 rows with ties`),
      ['look', 'delta', 'delta'],
    ],
  ])('%s', async (_, served, statements) => {
    serve(served);
    const held = await connect(users.slice(0, 30));
    await run(`insert into member values ('even', 'user 1')`);
    for (const [name, { patch }] of await pullAll(held)) {
      expect(patch).toEqual(told(isEven(name) || name === 'user 1', { members: 121 }));
    }
    expect(watched.take()).toEqual(statements);
  });

  const numberOf = (name: string) => Number(name.slice('user '.length)) + 0.5;

  it.each([
    [
      'an aggregate reads a parameter',
      (name: string) =>
        sql<{
          list_id: string;
        }>`select list_id, max(${name}::text) as reader, count(*) as members from member group by list_id`,
      (name: string) => name,
    ],
    [
      'they are grouped by one, of whose equal values the first is taken',
      (name: string) => ({
        text: 'select list_id, $1::float8 as reader, count(*) as members from member group by list_id, $1::float8',
        values: [numberOf(name)],
      }),
      numberOf,
    ],
  ])('are read for each user alone if %s', async (_, query, readerOf) => {
    serve({ size: defineView<{ list_id: string }>({ key: 'list_id', query: ({ ctx }) => query(ctx.userID) }) });
    const held = await connect(users.slice(0, 3));
    await run(`insert into member values ('even', 'user 1')`);
    for (const [name, { patch }] of await pullAll(held)) {
      expect(patch).toEqual(told(true, { reader: readerOf(name), members: 121 }));
    }
    expect(watched.take()).toEqual(['look', 'delta', 'delta', 'delta']);
  });
});
