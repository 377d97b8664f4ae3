/** Users who see the same rows through views of their own: one statement reads for all, and keeps them apart. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, type PullAnswer, PullServer } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

/** A list is visible to its members, and a member's note about it only to that member. */
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
/** A view of the first of these rows, with a limit. */
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

type Clients = Map<string, { cookie: unknown }>;

async function pull(userID: string, cookie: unknown): Promise<PullAnswer> {
  return server.pull(cookie, { clientGroupID: `group of ${userID}` }, userID);
}

/** Pulls twice for each user, so that the cache contains their groups. */
async function connect(names: readonly string[]): Promise<Clients> {
  const clients: Clients = new Map();
  for (const name of names) clients.set(name, await pull(name, null));
  await pullAll(clients);
  watched.take();
  return clients;
}

async function pullAll(clients: Clients): Promise<Map<string, PullAnswer>> {
  const answers = await Promise.all(
    [...clients].map(async ([name, { cookie }]) => [name, await pull(name, cookie)] as const),
  );
  for (const [name, answer] of answers) clients.set(name, answer);
  return new Map(answers);
}

const isEven = (name: string) => Number(name.slice('user '.length)) % 2 === 0;

describe('after one change', () => {
  beforeEach(() => serve(views));

  it('one poll and one delta serve 240 users, each with the result of their own parameters', async () => {
    const clients = await connect(users);
    await run(`update list set name = 'Canary' where id = 'even'`);
    const answers = await pullAll(clients);
    expect(watched.take()).toEqual(['poll', 'delta']);
    for (const [name, { patch }] of answers) {
      const put = { op: 'put', key: 'list/even', value: { id: 'even', name: 'Canary' } };
      expect(patch, name).toEqual(isEven(name) ? [put] : []);
    }
    // Clients with an empty delta have kept their cookies. Now both kinds of clients share a statement again.
    await run(`update member set note = 'canary of ' || user_id where right(user_id, 1) in ('6', '7')`);
    for (const [name, { patch }] of await pullAll(clients)) {
      const text = JSON.stringify(patch);
      const ids = name.endsWith('6') ? ['even', 'shared'] : name.endsWith('7') ? ['shared'] : [];
      expect(patch.map((op) => op.op !== 'clear' && op.key).sort()).toEqual(ids.map((id) => `note/${id}`));
      for (const canary of text.matchAll(/canary of user \d+/g)) expect(canary[0]).toBe(`canary of ${name}`);
    }
  });

  it('users who gain or lose a list each receive their own ops', async () => {
    const clients = await connect(users.slice(0, 40));
    await run(`
      begin;
      delete from member where list_id = 'even' and user_id in ('user 0', 'user 2');
      insert into member values ('even', 'user 1'), ('even', 'user 3');
      commit`);
    const answers = await pullAll(clients);
    expect(watched.take()).toEqual(['poll', 'delta']);
    for (const [name, { patch }] of answers) {
      const ops = patch.map((op) => `${op.op} ${op.op !== 'clear' && op.key}`).sort();
      if (['user 0', 'user 2'].includes(name)) expect(ops).toEqual(['del list/even', 'del note/even']);
      else if (['user 1', 'user 3'].includes(name)) expect(ops).toEqual(['put list/even', 'put note/even']);
      else expect(ops).toEqual([]);
    }
  });

  it('pulls still share their statements after other tables change in between', async () => {
    await run('create table if not exists elsewhere (id serial primary key)');
    const clients = await connect(users.slice(0, 20));
    for (const name of users.slice(0, 10)) {
      await run('insert into elsewhere default values');
      await run(`update member set note = note || '.' where user_id = '${name}'`);
      clients.set(name, await pull(name, clients.get(name)!.cookie));
    }
    await pullAll(clients);
    await run(`update list set name = 'Changed' where id = 'shared'`);
    watched.take();
    const answers = await pullAll(clients);
    expect(watched.take()).toEqual(['poll', 'delta']);
    for (const { patch } of answers.values()) expect(patch).toMatchObject([{ key: 'list/shared' }]);
  });

  it('clients that lack an earlier change receive it too', async () => {
    const clients = await connect(users.slice(0, 20));
    const late = new Map([...clients].slice(0, 5));
    await run(`update list set name = 'One' where id = 'shared'`);
    const early = new Map([...clients].slice(5));
    await pullAll(early);
    watched.take();
    await run(`update member set note = 'two' where user_id <> ''`);
    const answers = await pullAll(new Map([...late, ...early]));
    for (const [name, { patch }] of answers) {
      expect(patch.some((op) => op.op !== 'clear' && op.key === 'list/shared')).toBe(late.has(name));
    }
  });

  it('users with the same parameters form one cohort', async () => {
    const names = ['ada', 'ben', 'cyd'];
    await server.close();
    const everybody = defineView<{ id: string }>({ key: 'id', query: () => sql`select * from list` });
    serve({ everybody });
    const clients = await connect(names);
    await run(`update list set name = 'Changed'`);
    for (const { patch } of (await pullAll(clients)).values()) expect(patch).toHaveLength(2);
    const [, delta] = watched.statements;
    expect(delta!.text).not.toContain('tidemark_cohorts');
    expect(watched.take()).toEqual(['poll', 'delta']);
  });

  it('a user whose delta is too large to share is served alone', async () => {
    await run(`insert into list select 'l' || n, repeat('x', 30000) from generate_series(1, 300) n;
      insert into member select 'l' || n, 'user 1' from generate_series(1, 300) n where n > 50`);
    const clients = await connect(users.slice(0, 3));
    await run(
      `update list set name = name || '!' where id in (select 'l' || n from generate_series(51, 140) n) or id = 'shared'`,
    );
    const sizes = [...(await pullAll(clients)).values()].map(({ patch }) => patch.length);
    expect(sizes).toEqual([1, 91, 1]);
    expect(watched.take()).toEqual(['poll', 'delta']);
    await run(`insert into member select 'l' || n, 'user 2' from generate_series(1, 90) n;
      update list set name = repeat('y', 60000) where id in (select 'l' || n from generate_series(51, 140) n)`);
    const again = [...(await pullAll(clients)).values()].map(({ patch }) => patch.length);
    expect(again).toEqual([0, 90, 180]);
    expect(watched.take()).toContain('copy');
  });
});

describe('unchanged pulls', () => {
  beforeEach(() => serve(views));

  it('share one poll and read nothing else', async () => {
    const clients = await connect(users.slice(0, 50));
    await run('create table if not exists elsewhere (id serial primary key)');
    for (let round = 0; round < 3; round++) {
      await run('insert into elsewhere default values');
      const answers = await pullAll(clients);
      for (const { patch } of answers.values()) expect(patch).toEqual([]);
      expect(watched.take()).toEqual(['poll']);
    }
  });

  it('probe once if the cache begins after their cookies', async () => {
    const clients = await connect(users.slice(0, 3));
    await server.close();
    serve(views);
    await pullAll(clients);
    expect(watched.take().sort()).toEqual(['poll', 'probe', 'probe', 'probe']);
    await pullAll(clients);
    expect(watched.take()).toEqual(['poll']);
  });
});

it('an error in the view of one user does not affect the others', async () => {
  const forbidden = (name: string) => (name === 'user 7' ? 'Zeros'.length : 10);
  const share = defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select id, 100 / (length(name) - ${forbidden(ctx.userID)}) as share from list`,
  });
  serve({ share });
  const clients = await connect(users.slice(0, 10));
  await run(`update list set name = 'Zeros' where id = 'shared'`);
  const answers = await Promise.allSettled([...clients].map(([name, { cookie }]) => pull(name, cookie)));
  expect(answers.map(({ status }) => status)).toEqual(
    users.slice(0, 10).map((name) => (name === 'user 7' ? 'rejected' : 'fulfilled')),
  );
  for (const answer of answers) {
    if (answer.status === 'rejected') continue;
    expect(answer.value.patch).toEqual([{ op: 'put', key: 'share/shared', value: { id: 'shared', share: -20 } }]);
  }
});

describe('views that are not incremental', () => {
  const putIf = (isVisible: boolean, value: object) =>
    isVisible ? [{ op: 'put', key: 'size/even', value: { list_id: 'even', ...value } }] : [];

  it.each([
    ['share a statement if they are keyed', size, ['poll', 'delta']],
    ['share a statement if they show the first rows', first(sql`limit 10`), ['poll', 'delta']],
    [
      'share a statement among twenty users if they are compared as a whole',
      first(sql`fetch first 10 rows with ties`),
      ['poll', 'delta', 'delta'],
    ],
  ])('%s', async (_, served, statements) => {
    serve(served);
    const clients = await connect(users.slice(0, 30));
    await run(`insert into member values ('even', 'user 1')`);
    for (const [name, { patch }] of await pullAll(clients)) {
      expect(patch).toEqual(putIf(isEven(name) || name === 'user 1', { members: 121 }));
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
      'they are grouped by a float parameter',
      (name: string) => ({
        text: 'select list_id, $1::float8 as reader, count(*) as members from member group by list_id, $1::float8',
        values: [numberOf(name)],
      }),
      numberOf,
    ],
  ])('are read for each user alone if %s', async (_, query, readerOf) => {
    serve({ size: defineView<{ list_id: string }>({ key: 'list_id', query: ({ ctx }) => query(ctx.userID) }) });
    const clients = await connect(users.slice(0, 3));
    await run(`insert into member values ('even', 'user 1')`);
    for (const [name, { patch }] of await pullAll(clients)) {
      expect(patch).toEqual(putIf(true, { reader: readerOf(name), members: 121 }));
    }
    expect(watched.take()).toEqual(['poll', 'delta', 'delta', 'delta']);
  });
});
