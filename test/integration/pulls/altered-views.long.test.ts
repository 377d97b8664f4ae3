/** DDL that affects some of a client's views: the server resends their rows, but not those of the other views. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type View, type Views } from '../../../packages/tidemark/src/view/define.js';
import { type Context, fullRead, type Op, PullServer, type SyncClient } from '../../support/synced.js';
import { type Altered, useAltered } from './altered.js';
import { WatchedDatabase } from './watched.js';

const altered = useAltered();

const ddl = `create type mood as enum ('glad', 'sad');
  create table t (id int primary key, list int, title text, n int, mood mood default 'sad', gone int);
  insert into t (id, list, title, n) values (1, 1, 'a', 10), (2, 1, 'b', 20), (3, 2, 'c', 30);
  create table u (id int primary key, m int, note text); insert into u values (1, 100, 'x'), (3, 300, 'y');
  create table v (id int primary key, text text); insert into v values (1, 'one'), (2, 'two')`;

const view = (text: string, more: Partial<View<Context>> = {}): View<Context> => ({
  ...defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) }),
  ...more,
});

const all = view('select * from t');
const same = view('select id, text from v');
const short = view('select id, title from t');

const opened: PullServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

function serve({ url }: Altered, views: Views<Context>, consistencyChecks = 0, watched?: WatchedDatabase): PullServer {
  const server = new PullServer(url, views, watched?.watch, consistencyChecks);
  opened.push(server);
  return server;
}

const opsIn = (patch: readonly Op[]) => patch.map((op) => (op.op === 'clear' ? 'clear' : `${op.op} ${op.key}`)).sort();

/** Returns the ops that a client receives. It then holds what a new one would receive, and follows further changes. */
async function sentTo(tables: Altered, client: SyncClient, server?: PullServer): Promise<string[]> {
  const { patch } = await client.pull(server);
  const truth = () => (server ? fullRead(server) : tables.truth());
  expect(client.held()).toEqual(await truth());
  expect((await client.pull(server)).patch).toEqual([]);
  await tables.run(`update v set text = text || '!' where id = 1; delete from t where id = 2;
    insert into t (id, list, n) values (50, 5, 5); update t set n = null, id = id + 100 where id = 3`);
  expect((await client.pull(server)).patch).not.toContainEqual({ op: 'clear' });
  expect(client.held()).toEqual(await truth());
  return opsIn(patch);
}

const again = ['put one/1', 'put one/2', 'put one/3'];

describe('a pull after DDL resends only the rows of the affected view', () => {
  it.each<[what: string, one: View<Context>, change: string, sent?: string[]]>([
    ['if SELECT * gains a column', all, 'alter table t add column extra int default 7'],
    ['if SELECT * loses a column', all, 'alter table t drop column gone'],
    ['if a column of SELECT * is renamed', all, 'alter table t rename column gone to went'],
    ['if an enum label is renamed', all, `alter type mood rename value 'sad' to 'sorry'`],
    ['if an enum label is added', all, `alter type mood add value 'wild' before 'sad'`],
    ['if a column of SELECT * changes its type', all, 'alter table t alter column n type text using n::text'],
    [
      'if a column gets a new type and other values',
      short,
      `alter table t alter column title type varchar using title || '!'`,
    ],
    ['if a column gets a new type and keeps its values', short, 'alter table t alter column title type varchar(40)'],
    [
      'if another column of the same name replaces one',
      short,
      'alter table t drop column title; alter table t add column title int',
    ],
    ['if whole rows gain a column', view('select id, to_jsonb(t) as row from t'), 'alter table t add column extra int'],
    [
      'if the view is a join',
      view('select t.id, t.title, u.note from t join u using (id)'),
      `alter table u alter column note type varchar using note || note`,
      ['put one/1', 'put one/3'],
    ],
    [
      'if the view is an outer join',
      view('select t.id, t.title, u.note from t left join u on u.id = t.id'),
      `alter table u alter column note type varchar using note || note`,
    ],
    [
      'if a subquery sums the altered column',
      view('select id, (select sum(m) from u where u.id = t.id) as sum from t'),
      'alter table u alter column m type numeric(9, 2)',
    ],
    [
      'if each group sums the altered column',
      view('select list as id, sum(n) as n from t group by list'),
      'alter table t alter column n type numeric(9, 2)',
      ['put one/1', 'put one/2'],
    ],
    [
      'if the view shows the first rows',
      view('select * from t order by n, id limit 2'),
      'alter table t add column extra int',
      ['put one/1', 'put one/2'],
    ],
    [
      'if several rows share a key',
      view('select distinct list as id, n::numeric as n, mood from t', { key: ['id'] }),
      'alter table t alter column n type bigint',
      ['put one/1', 'put one/2'],
    ],
    [
      'if a template forms the keys',
      view('select * from t', { key: ['list', 'id'], template: 'list/{list}/t/{id}', prefix: 'by/' }),
      'alter table t add column extra int',
      ['put by/list/1/t/1', 'put by/list/1/t/2', 'put by/list/2/t/3'],
    ],
    [
      'if each user has a key prefix',
      view('select * from t', { prefix: ({ ctx }) => `${ctx.userID}/` }),
      'alter table t add column extra int',
      ['put ada/1', 'put ada/2', 'put ada/3'],
    ],
    [
      'if the query has a parameter',
      view('', { query: () => sql`select * from t where list = ${1}` }),
      'alter table t add column extra int',
      ['put one/1', 'put one/2'],
    ],
  ])('%s', async (_, one, change, sent = again) => {
    const tables = await altered.start(ddl, { views: { same, one } });
    await tables.run(change);
    tables.passASecond();
    expect(await sentTo(tables, tables.client)).toEqual(sent);
  });
});

it('a pull after DDL resends the rows of several views, affected by one table or by two', async () => {
  const both = view('select u.id, u.note, t.title from u join t using (id)');
  const tables = await altered.start(ddl, { views: { one: all, same, short, both } });
  const { client, run, passASecond } = tables;
  await run(`alter table u alter column note type varchar(9); alter table t alter column title type varchar(9)`);
  passASecond();
  expect(await sentTo(tables, client)).toEqual(
    ['put both/1', 'put both/3', ...again, 'put short/1', 'put short/2', 'put short/3'].sort(),
  );
});

it('a pull after DDL resends the rows of one of two views that share a prefix', async () => {
  const views = {
    even: view('select * from t where id % 2 = 0', { template: 'even/{id}', prefix: 'row/' }),
    odd: view('select id, title from t where id % 2 = 1', { template: 'odd/{id}', prefix: 'row/' }),
  };
  const tables = await altered.start(ddl, { views });
  await tables.run('alter table t add column extra int');
  tables.passASecond();
  expect(await sentTo(tables, tables.client)).toEqual(['put row/even/2']);
});

describe('a change before DDL', () => {
  it('is sent if it is in another table of the condition', async () => {
    const one = view('select * from t where exists (select from u where u.id = t.id)');
    const tables = await altered.start(ddl, { views: { one, same } });
    const { client, run, passASecond } = tables;
    await run(`delete from u where id = 1; insert into u values (2, 0, ''); update v set text = 'new' where id = 2`);
    await run('alter table t add column extra int');
    passASecond();
    expect(await sentTo(tables, client)).toEqual(['del one/1', 'put one/2', 'put one/3', 'put same/2']);
  });

  it('causes no second deletion if the client has pulled it', async () => {
    const tables = await altered.start(ddl, { views: { one: all, same } });
    const { client, run, passASecond } = tables;
    await run('delete from t where id = 1; insert into t (id) values (4)');
    await client.pull();
    await run('alter table t add column extra int; update v set text = text || text where id = 1');
    passASecond();
    expect(await sentTo(tables, client)).toEqual(['put one/2', 'put one/3', 'put one/4', 'put same/1']);
  });

  it('is sent if the client has not pulled it', async () => {
    const tables = await altered.start(ddl, { views: { one: all, same } });
    const { client, run, passASecond } = tables;
    await run('delete from t where id = 1; alter table t add column extra int');
    passASecond();
    expect(await sentTo(tables, client)).toEqual(['del one/1', 'put one/2', 'put one/3']);
  });
});

describe('a deployment together with DDL', () => {
  it('sends the difference of a view that both change', async () => {
    const tables = await altered.start(ddl, { views: { one: all, same } });
    const { client, run } = tables;
    await run('alter table t add column extra int');
    const server = serve(tables, { one: view('select id, n from t where id > 1'), same });
    expect(await sentTo(tables, client, server)).toEqual(['del one/1', 'put one/2', 'put one/3']);
  });

  it('deletes the rows of an altered view that it removes', async () => {
    const tables = await altered.start(ddl, { views: { one: all, same } });
    const { client, run } = tables;
    await run('alter table t drop column gone');
    expect(await sentTo(tables, client, serve(tables, { same }))).toEqual(['del one/1', 'del one/2', 'del one/3']);
  });

  it('puts all rows whose keys another view takes over, even those with the same text', async () => {
    const tables = await altered.start(ddl, { views: { one: view('select id, title from t'), same } });
    const { client, run } = tables;
    await run(`alter table t alter column title type varchar using title || '!'`);
    const server = serve(tables, { two: view(`select id, title from t where id > 1`, { prefix: 'one/' }), same });
    expect(await sentTo(tables, client, server)).toEqual(['del one/1', 'put one/2', 'put one/3']);
  });
});

it('a pull sends the difference after a parameter and its table change', async () => {
  let list = 1;
  const one = view('', { query: () => sql`select * from t where list = ${list}` });
  const tables = await altered.start(ddl, { views: { one, same } });
  await tables.run('alter table t add column extra int');
  tables.passASecond();
  list = 2;
  expect(await sentTo(tables, tables.client)).toEqual(['del one/1', 'del one/2', 'put one/3']);
});

it('repeated DDL resends the rows each time, and consistency checks find no differences', async () => {
  const tables = await altered.start(ddl, { views: { one: all, short, same } });
  const { run, passASecond, client } = tables;
  const server = serve(tables, { one: all, short, same }, 1);
  client.cookie = null;
  await client.pull(server);
  for (const change of ['add column extra int default 1', 'drop column gone', 'alter column n type text']) {
    await run(`alter table t ${change}`);
    passASecond();
    expect(opsIn((await client.pull(server)).patch)).toEqual(again);
    await run(`update t set title = title || '.'; delete from t where id = 4; insert into v select max(id) + 1 from v`);
    expect((await client.pull(server)).patch).not.toContainEqual({ op: 'clear' });
  }
  expect(client.held()).toEqual(await tables.truth());
  const { comparisons, differences } = server.consistencyChecker.state();
  expect({ comparisons: comparisons > 0, differences }).toEqual({ comparisons: true, differences: 0 });
});

it('resending rows to many clients leaves a connection for small pulls', async () => {
  const watched = new WatchedDatabase();
  const tables = await altered.start(ddl, { views: { one: all, same } });
  const server = serve(tables, { one: all, same }, 0, watched);
  const pull = (userID: string, cookie: unknown) => server.pull(cookie, { clientGroupID: userID }, userID);
  const users = ['ada', 'bob'];
  const cookies = await Promise.all(users.map(async (userID) => (await pull(userID, null)).cookie));
  await tables.run('alter table t add column extra int');
  tables.passASecond();
  const { cookie } = await pull('eve', null);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  watched.take();
  watched.before = ({ kind }) => (kind === 'copy' ? released : undefined);
  const sent = users.map((userID, i) => pull(userID, cookies[i]));
  await vi.waitFor(() => expect(watched.statements.filter(({ kind }) => kind === 'copy')).toHaveLength(2), 10_000);
  await tables.run(`update v set text = 'new' where id = 1`);
  expect(opsIn((await pull('eve', cookie)).patch)).toEqual(['put same/1']);
  release();
  for (const { patch } of await Promise.all(sent)) expect(opsIn(patch)).toEqual([...again, 'put same/1']);
});

describe('a pull after DDL resets the client', () => {
  it.each<[why: string, views: Views<Context>, change: string]>([
    ['if every view is affected', { one: all, short }, 'alter table t alter column title type varchar(9)'],
    [
      'if a column of the condition changes its type',
      { one: view('select id, title from t where list = 1'), same },
      'alter table t alter column list type bigint',
    ],
    [
      'if a grouping column changes its type',
      { one: view('select list as id, sum(n) as n from t group by list'), same },
      'alter table t alter column list type bigint',
    ],
    [
      'if a column that orders the first rows changes',
      { one: view('select id, title from t order by n, id limit 2'), same },
      'alter table t alter column n type bigint using -n',
    ],
    [
      'if a key column changes its type',
      { one: view('select n as id, title from t'), same },
      'alter table t alter column n type bigint',
    ],
    [
      'if another column takes the name of a key column',
      { one: view('select n as id, title from t'), same },
      'alter table t rename column n to m; alter table t rename column gone to n; update t set n = m',
    ],
    [
      'if a name in the condition refers to another column',
      { one: view('select id, title from t where exists (select from u where u.id = t.id and n > 5)'), same },
      'alter table u add column n int',
    ],
    [
      'if another table takes the name of the table',
      { one: all, same },
      'alter table t rename to w; create table t (like w including all)',
    ],
    [
      'if an enum label is renamed that the condition compares',
      { one: view(`select id, title from t where mood <> 'glad'`), same },
      `alter type mood rename value 'sad' to 'sorry'`,
    ],
    [
      'if the query is no longer valid',
      { one: view('select id, title from t'), same },
      'alter table t rename column title to name; alter table t add column title text; alter table t drop column title',
    ],
  ])('%s', async (_, views, change) => {
    const tables = await altered.start(ddl, { views });
    const { client, run, migrate, passASecond } = tables;
    await run(change);
    const isServed = await migrate().then(
      () => true,
      () => false,
    );
    passASecond();
    const server = serve(tables, isServed ? views : { same });
    const { patch } = await client.pull(server);
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await fullRead(server));
    expect(server.lines.lines).toMatchObject([{ level: 'info', fields: { reason: 'views' } }]);
  });

  it('if the view catalog has no digest of the keys', async () => {
    const tables = await altered.start(ddl, { views: { one: all, same } });
    const { client, run, passASecond } = tables;
    await altered.database.pool.query(`update tidemark.view_catalog set definition = definition::jsonb - 'keysDigest'`);
    await run('alter table t add column extra int');
    passASecond();
    expect((await sentTo(tables, client))[0]).toBe('clear');
  });
});
