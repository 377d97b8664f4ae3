/** When some of a client's views have changed, the server does not resend the others. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { rotateSecret } from '../../../packages/tidemark/src/schema/secrets.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type View, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

interface Item {
  id: number;
  list: number;
  n: number;
}

/** The list that a user sees. An application would take it from the user's context. */
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

function serve(serverViews: Views<Context>, consistencyChecks = 0, watched?: WatchedDatabase): PullServer {
  const server = new PullServer(database.url, serverViews, watched?.watch, consistencyChecks);
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

async function startClient(server: PullServer): Promise<SyncClient> {
  const client = new SyncClient(server);
  await client.pull();
  return client;
}

/** Pulls, and returns the ops. The client then holds what a new one would, with a higher order, and pulls as usual. */
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

describe('a pull sends only the difference', () => {
  it.each<[what: string, before: Views<Context>, after: Views<Context>, sent: string[]]>([
    ['for a new view', { note }, { note, tag }, ['put tag/1']],
    ['for a new view that precedes others', { note }, { tag, note }, ['put tag/1']],
    ['for views in another order', { note, tag }, { tag, note }, []],
    ['for a removed view', { item, note, tag }, { note }, ['del item/1', 'del item/2', 'del tag/1']],
    [
      'for another query',
      { item, note },
      { item: itemOf('select id, n from item where id > 1'), note },
      ['del item/1', 'put item/2', 'put item/3'],
    ],
    [
      'for other columns',
      { item, note },
      { item: { ...item, columns: { n: 'm' } }, note },
      ['put item/1', 'put item/2'],
    ],
    ['for another prefix', { tag, note }, { tag: { ...tag, prefix: 't/' }, note }, ['del tag/1', 'put t/1']],
    ['for another name with the same keys and values', { tag, note }, { mark: { ...tag, prefix: 'tag/' }, note }, []],
    [
      'for a query with the same rows and more',
      { item, note },
      { item: itemOf('select id, list, n from item'), note },
      ['put item/3'],
    ],
    [
      'for two views that have swapped their keys',
      { a: { ...tag, prefix: 'a/' }, b: { ...note, prefix: 'b/' }, item },
      { a: { ...note, prefix: 'a/' }, b: { ...tag, prefix: 'b/' }, item },
      ['del b/2', 'put a/1', 'put a/2', 'put b/1'],
    ],
    [
      'for a prefix that was specific to the user',
      { tag: { ...tag, prefix: () => 'mine/' }, note },
      { tag, note },
      ['del mine/1', 'put tag/1'],
    ],
    [
      'for a removed view whose rows share a key',
      { few: itemOf('select distinct list from item', { key: ['list'] }), note },
      { note },
      ['del few/1', 'del few/2'],
    ],
    ['for a removed view of a table that no other view reads', { tagged, note }, { note }, ['del tagged/1']],
    [
      'for a removed view with counts',
      { count: itemOf('select list, count(*)::int as n from item group by list', { key: ['list'] }), note },
      { note },
      ['del count/1', 'del count/2'],
    ],
  ])('%s', async (_, before, after, sent) => {
    const client = await startClient(serve(before));
    expect(await sentTo(client, serve(after))).toEqual(sent);
  });

  it('for another parameter', async () => {
    const server = serve(views);
    const client = await startClient(server);
    list = 2;
    expect(await sentTo(client, server)).toEqual(['del item/1', 'del item/2', 'put item/3']);
  });

  it('for another parameter, if the previous secret has signed the cookie', async () => {
    const server = serve(views);
    const client = await startClient(server);
    const db = openPool(database.url, { max: 1 });
    await rotateSecret(db, 1000);
    await db.query({ text: 'update tidemark.meta set signs_from = now()' });
    await db.close();
    list = 2;
    expect(await sentTo(client, serve(views))).toEqual(['del item/1', 'del item/2', 'put item/3']);
  });
});

it('a pull sends later changes of removed, changed and unchanged views', async () => {
  const client = await startClient(serve({ item, note, tagged }));
  // At the cookie's snapshot: items 1 and 2, and tagged 1.
  await run(`
    delete from item where id = 1; update item set list = 2 where id = 2; insert into item values (4, 1, 0);
    insert into tag values (3); delete from note where id = 1; insert into note values (3, 'three')`);
  const sent = await sentTo(client, serve({ item: itemOf('select id, n from item where id in (2, 3)'), note }));
  expect(sent).toEqual(['del item/1', 'del note/1', 'del tagged/1', 'put item/2', 'put item/3', 'put note/3']);
});

it('a client can alternate between deployments with different views', async () => {
  const [one, other] = [serve(views), serve({ tag, note, tagged })];
  const client = await startClient(one);
  expect(await sentTo(client, other)).toEqual(['del item/1', 'del item/2', 'put tag/1', 'put tagged/1']);
  expect(await sentTo(client, one)).toEqual(['del tag/1', 'del tagged/1', 'put item/1', 'put item/2']);
});

it('simultaneous pulls with different cookies each receive what they lack', async () => {
  const watched = new WatchedDatabase();
  const server = serve(views, 0, watched);
  const clients: SyncClient[] = [];
  for (const listID of [1, 2, 1, 2]) {
    list = listID;
    clients.push(await startClient(server));
  }
  list = 3;
  await Promise.all(clients.map((client) => client.pull()));
  for (const client of clients) expect(client.held()).toEqual(await fullRead(server));
});

it('a pull also sends what is written after the first poll', async () => {
  const watched = new WatchedDatabase();
  const server = serve(views, 0, watched);
  const client = await startClient(server);
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

it('consistency checks find no differences after the views change', async () => {
  const [one, other] = [serve({ item, note, tag }, 1), serve({ tagged, note, item: itemOf('select id from item') }, 1)];
  const client = await startClient(one);
  for (const server of [other, one, other, one]) {
    await run(`update note set text = text || '.'; update item set list = 3 - list, n = n + 1`);
    expect((await client.pull(server)).patch[0]).not.toEqual({ op: 'clear' });
  }
  await run(`update note set text = text || '.'`);
  await client.pull(other);
  expect(other.consistencyChecker.state()).toEqual({ comparisons: 1, differences: 0 });
  expect(client.held()).toEqual(await fullRead(other));
});

describe('a pull after the views change resets the client', () => {
  const others = { item: itemOf('select id, n from item where id > 1'), note };

  it.each<[why: string, before: Views<Context>, after: Views<Context>, between: string]>([
    ['if no view is the same', { item }, { tag }, 'select'],
    ['if the view catalog no longer contains the view', { item, note }, others, 'delete from tidemark.view_catalog'],
    [
      'if the condition of a removed view has a column of another type',
      { item, note },
      { note },
      'alter table item alter column list type bigint',
    ],
    ['if a table was truncated', { item, note }, others, 'truncate note'],
    ['if the table of a removed view was truncated', { item, note }, { note }, 'truncate item'],
    [
      'if the table of a removed view is no longer captured',
      { label, note },
      { note },
      'drop trigger tidemark_insert on label',
    ],
    ['if the table of a removed view no longer exists', { badge, note }, { note }, 'alter table badge rename to mark'],
  ])('%s', async (_, before, after, between) => {
    const client = await startClient(serve(before));
    await run(between);
    const server = serve(after);
    const { patch } = await client.pull(server);
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('and logs an error if the definition in the view catalog is invalid', async () => {
    const client = await startClient(serve({ item, note }));
    await run(`update tidemark.view_catalog set definition = '{'`);
    const server = serve(others);
    expect((await client.pull(server)).patch[0]).toEqual({ op: 'clear' });
    expect(server.lines.lines[0]).toMatchObject({
      level: 'error',
      message: expect.stringContaining('Cannot determine'),
    });
    await run('delete from tidemark.view_catalog');
  });

  it('without an error if a parameter of a removed view no longer fits its type', async () => {
    await run('create type pair as (a int, b int)');
    const paired = itemOf('', { query: () => sql`select id, n from item where ${'(1,2)'}::pair is not null` });
    const client = await startClient(serve({ paired, note }));
    await run('alter type pair add attribute c int');
    const server = serve({ note });
    const { patch } = await client.pull(server);
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(client.held()).toEqual(await fullRead(server));
    expect(server.lines.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await run('drop type pair');
  });

  it('if the cookie belongs to another user', async () => {
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
    const client = await startClient(server);
    list = 2;
    expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  });
});
