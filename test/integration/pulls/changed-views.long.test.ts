/** When some of a client's views have changed, the others are not sent again. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../src/db/pg.js';
import { rotateSecret } from '../../../src/installation/secrets.js';
import { sql } from '../../../src/sql.js';
import { defineView, type View, type Views } from '../../../src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

interface Item {
  id: number;
  list: number;
  n: number;
}

/** Which list a user sees is what an application takes from the user's context. */
let list: number | string = 1;
const item = defineView<Item>({ key: 'id', query: () => sql<Item>`select id, list, n from item where list = ${list}` });
const itemOf = (text: string, more: Partial<View<Context>> = {}): View<Context> => ({
  ...item,
  query: () => ({ text, values: [] }),
  ...more,
});
const note = itemOf('select id, text from note');
const tag = itemOf('select id from tag');
const label = itemOf('select id from label');
const badge = itemOf('select id from badge');
const tagged = itemOf('select i.id, i.n from item i where exists (select from tag t where t.id = i.id)');
const views: Views<Context> = { item, note };

let database: TestDatabase;
let opened: PullServer[] = [];

function serve(own: Views<Context>, audit = 0, watched?: WatchedDatabase): PullServer {
  const server = new PullServer(database.url, own, watched?.watch, audit);
  opened.push(server);
  return server;
}

const run = (text: string) => database.pool.query(text);

beforeAll(async () => {
  database = await createSynced(
    `create table item (id int primary key, list int not null, n int not null);
    create table note (id int primary key, text text not null);
    create table tag (id int primary key); create table label (id int primary key); create table badge (id int primary key)`,
    { item, note, tag, label, badge },
  );
});
beforeEach(async () => {
  list = 1;
  await run(`
    delete from item; delete from note; delete from tag;
    insert into item values (1, 1, 0), (2, 1, 0), (3, 2, 0);
    insert into note values (1, 'one'), (2, 'two');
    insert into tag values (1)`);
});
afterEach(async () => {
  await Promise.all(opened.map((server) => server.close()));
  opened = [];
});
afterAll(() => database.drop());

const keysIn = (patch: readonly Op[]) => patch.map((op) => (op.op === 'clear' ? 'clear' : `${op.op} ${op.key}`)).sort();
const orderOf = (client: SyncClient) => (client.cookie as { order: number }).order;

async function started(server: PullServer): Promise<SyncClient> {
  const client = new SyncClient(server);
  await client.pull();
  return client;
}

/** What it is sent. It then holds what a new client would be sent, under a higher order, and the next pull is as usual. */
async function sentTo(client: SyncClient, server: PullServer): Promise<string[]> {
  const before = orderOf(client);
  const { patch } = await client.pull(server);
  expect(client.held()).toEqual(await fullRead(server));
  expect(orderOf(client)).toBeGreaterThan(before);
  expect((await client.pull(server)).patch).toEqual([]);
  await run(`update note set text = text || '!' where id = 2; update item set n = n + 1`);
  await client.pull(server);
  expect(client.held()).toEqual(await fullRead(server));
  return keysIn(patch);
}

describe('without the rows of the views that are the same', () => {
  it.each<[what: string, before: Views<Context>, after: Views<Context>, sent: string[]]>([
    ['a new view', { note }, { note, tag }, ['put tag/1']],
    ['a new view, before others', { note }, { tag, note }, ['put tag/1']],
    ['views in another order', { note, tag }, { tag, note }, []],
    ['a view that is gone', { item, note, tag }, { note }, ['del item/1', 'del item/2', 'del tag/1']],
    [
      'another query',
      { item, note },
      { item: itemOf('select id, n from item where id > 1'), note },
      ['del item/1', 'put item/2', 'put item/3'],
    ],
    ['other columns', { item, note }, { item: { ...item, columns: { n: 'm' } }, note }, ['put item/1', 'put item/2']],
    ['another prefix', { tag, note }, { tag: { ...tag, prefix: 't/' }, note }, ['del tag/1', 'put t/1']],
    ['another name for the same keys and values', { tag, note }, { mark: { ...tag, prefix: 'tag/' }, note }, []],
    [
      'a query that finds the same rows, and more',
      { item, note },
      { item: itemOf('select id, list, n from item'), note },
      ['put item/3'],
    ],
    [
      'two that have swapped their keys',
      { a: { ...tag, prefix: 'a/' }, b: { ...note, prefix: 'b/' }, item },
      { a: { ...note, prefix: 'a/' }, b: { ...tag, prefix: 'b/' }, item },
      ['del b/2', 'put a/1', 'put a/2', 'put b/1'],
    ],
    [
      'a prefix of the user’s own',
      { tag: { ...tag, prefix: () => 'mine/' }, note },
      { tag, note },
      ['del mine/1', 'put tag/1'],
    ],
    [
      'one that several rows share a key of',
      { few: itemOf('select distinct list from item', { key: ['list'] }), note },
      { note },
      ['del few/1', 'del few/2'],
    ],
    ['one that reads a table that is read by no other', { tagged, note }, { note }, ['del tagged/1']],
    [
      'one that is counted',
      { count: itemOf('select list, count(*)::int as n from item group by list', { key: ['list'] }), note },
      { note },
      ['del count/1', 'del count/2'],
    ],
  ])('%s', async (_, before, after, sent) => {
    const client = await started(serve(before));
    expect(await sentTo(client, serve(after))).toEqual(sent);
  });

  it('another parameter', async () => {
    const server = serve(views);
    const client = await started(server);
    list = 2;
    expect(await sentTo(client, server)).toEqual(['del item/1', 'del item/2', 'put item/3']);
  });

  it('another parameter, under a cookie that was signed with the secret before', async () => {
    const server = serve(views);
    const client = await started(server);
    const db = openPool(database.url, { max: 1 });
    await rotateSecret(db, 1000);
    await db.query({ text: 'update tidemark.meta set signs_from = now()' });
    await db.close();
    list = 2;
    expect(await sentTo(client, serve(views))).toEqual(['del item/1', 'del item/2', 'put item/3']);
  });
});

it('what has changed since is right for each view, whatever became of it', async () => {
  const client = await started(serve({ item, note, tagged }));
  // As of the cookie: items 1 and 2, and tagged 1.
  await run(`
    delete from item where id = 1; update item set list = 2 where id = 2; insert into item values (4, 1, 0);
    insert into tag values (3); delete from note where id = 1; insert into note values (3, 'three')`);
  const sent = await sentTo(client, serve({ item: itemOf('select id, n from item where id in (2, 3)'), note }));
  expect(sent).toEqual(['del item/1', 'del note/1', 'del tagged/1', 'put item/2', 'put item/3', 'put note/3']);
});

it('as often as it happens, back and forth', async () => {
  const [one, other] = [serve(views), serve({ tag, note, tagged })];
  const client = await started(one);
  expect(await sentTo(client, other)).toEqual(['del item/1', 'del item/2', 'put tag/1', 'put tagged/1']);
  expect(await sentTo(client, one)).toEqual(['del tag/1', 'del tagged/1', 'put item/1', 'put item/2']);
});

it('clients with other cookies that come at once are each sent what they lack', async () => {
  const watched = new WatchedDatabase();
  const server = serve(views, 0, watched);
  const clients: SyncClient[] = [];
  for (const own of [1, 2, 1, 2]) {
    list = own;
    clients.push(await started(server));
  }
  list = 3;
  await Promise.all(clients.map((client) => client.pull()));
  for (const client of clients) expect(client.held()).toEqual(await fullRead(server));
});

it('what is written after the first look at the change log is sent, too', async () => {
  const watched = new WatchedDatabase();
  const server = serve(views, 0, watched);
  const client = await started(server);
  list = 2;
  watched.before = async ({ kind }) => {
    if (kind !== 'copy') return;
    watched.before = () => {};
    await run(
      `update note set text = 'new' where id = 1; update item set list = 1 where id = 3; delete from item where id = 1`,
    );
  };
  expect((await client.pull()).patch).not.toContainEqual({ op: 'clear' });
  expect(client.held()).toEqual(await fullRead(server));
});

it('an audit knows what the client holds afterwards', async () => {
  const [one, other] = [serve({ item, note, tag }, 1), serve({ tagged, note, item: itemOf('select id from item') }, 1)];
  const client = await started(one);
  for (const server of [other, one, other, one]) {
    await run(`update note set text = text || '.'; update item set list = 3 - list, n = n + 1`);
    expect((await client.pull(server)).patch[0]).not.toEqual({ op: 'clear' });
  }
  await run(`update note set text = text || '.'`);
  await client.pull(other);
  expect(other.auditor.state()).toEqual({ compared: 1, differences: 0 });
  expect(client.held()).toEqual(await fullRead(other));
});

describe('a reset', () => {
  const others = { item: itemOf('select id, n from item where id > 1'), note };

  it.each<[why: string, before: Views<Context>, after: Views<Context>, between: string]>([
    ['if no view is the same', { item }, { tag }, 'select'],
    ['if nobody knows the view any more', { item, note }, others, 'delete from tidemark.view_text'],
    [
      'if what found the rows of a view that is gone has another shape',
      { item, note },
      { note },
      'alter table item alter column list type bigint',
    ],
    ['if a table was truncated', { item, note }, others, 'truncate note'],
    ['if the table of a view that is gone was truncated', { item, note }, { note }, 'truncate item'],
    [
      'if the table of a view that is gone is not captured any more',
      { label, note },
      { note },
      'drop trigger tidemark_insert on label',
    ],
    ['if the table of a view that is gone is no more', { badge, note }, { note }, 'alter table badge rename to mark'],
  ])('%s', async (_, before, after, between) => {
    const client = await started(serve(before));
    await run(between);
    const server = serve(after);
    const { patch } = await client.pull(server);
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('if what is kept of the view cannot be read, and the log says so', async () => {
    const client = await started(serve({ item, note }));
    await run(`update tidemark.view_text set definition = '{'`);
    const server = serve(others);
    expect((await client.pull(server)).patch[0]).toEqual({ op: 'clear' });
    expect(server.lines.lines[0]).toMatchObject({ level: 'error', message: expect.stringContaining('cannot be told') });
    await run('delete from tidemark.view_text');
  });

  it('if a value that a view that is gone was given is none of its type any more, which is no failure', async () => {
    await run('create type pair as (a int, b int)');
    const paired = itemOf('', { query: () => sql`select id, n from item where ${'(1,2)'}::pair is not null` });
    const client = await started(serve({ paired, note }));
    await run('alter type pair add attribute c int');
    const server = serve({ note });
    const { patch } = await client.pull(server);
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await fullRead(server));
    expect(server.lines.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await run('drop type pair');
  });

  it('if the user is another', async () => {
    const server = serve(views);
    const { cookie } = await server.pull(null, {}, 'ada');
    list = 2;
    expect((await server.pull(cookie, { clientGroupID: 'other' }, 'bob')).patch[0]).toEqual({ op: 'clear' });
  });

  it('if the parameters are too long for a cookie', async () => {
    const long = itemOf('', {
      query: () => sql`select id, n from item where ${'x'.repeat(200)}::text <> ${list}::text`,
    });
    const server = serve({ long, note });
    const client = await started(server);
    list = 2;
    expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  });
});
