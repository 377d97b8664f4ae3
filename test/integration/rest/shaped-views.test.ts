/** Views of every shape, read over REST: rows as clients hold them, and single rows by key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toPathSegment } from '../../../packages/tidemark/src/protocol/path-segment.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { type Context, createSynced } from '../../support/synced.js';
import { ddl, describedViews, type Item, type Tables } from '../pulls/shaped.js';
import type { Ops } from './viewed.js';

const at = defineView({
  query: () => sql<{ done_at: string; id: string }>`select done_at, id from item where done_at is not null`,
  key: 'at {done_at}/',
  value: 'id',
  timestamps: 'UTC',
});
const views: Views<Context> = { ...describedViews.definitions, at };

const item = (space: string, id: string, more: Partial<Item> = {}): Item => {
  return { space, id, doc: null, size: null, title: null, done: null, ...more };
};
const items = [
  item('a', '1', { doc: '{"a":\n[1, null]}', size: '9007199254740993', title: 'T "\u2028', done: '1770091506.7' }),
  item('a', '', { doc: 'null', size: '-1', title: '', done: '-63549403200' }),
  item('a', "o'%/x", { doc: '"text\\n"', done: '253402300800' }),
  item('b/1', '2/x', { size: '5', title: 'b', done: 'Infinity' }),
  item('b/1', '%2F'),
  item('%2F', '1', { title: 'canary' }),
];
const access = [
  { user_id: 'ada', space: 'a' },
  { user_id: 'ada', space: 'b/1' },
  { user_id: 'bob', space: 'b/1' },
];
const tables: Tables = { items, access };

let database: TestDatabase;
let sync: Sync;

beforeAll(async () => {
  database = await createSynced(ddl, views);
  await database.pool.query(`
    do $$ begin execute format('alter database %I set timezone = ''Asia/Kathmandu''', current_database()); end $$`);
  await database.pool.query('insert into access select * from json_populate_recordset(null::access, $1)', [
    JSON.stringify(access),
  ]);
  for (const { space, id, doc, size, title, done } of items) {
    await database.pool.query('insert into item values ($1, $2, $3, $4, $5, to_timestamp($6::float8))', [
      space, id, doc, size, title, done,
    ]); // biome-ignore format: short
  }
  sync = await createSync({
    database: database.url,
    views,
    authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
    log: memoryLog().log,
  });
});
afterAll(async () => {
  await sync?.close();
  await database?.drop();
});

const get = (path: string, userID: string, headers: Readonly<Record<string, string>> = {}) =>
  sync.fetch(
    new Request(`http://localhost/api/views${path && `/${path}`}`, { headers: { ...headers, Authorization: userID } }),
  );

function prefixOf(name: string, userID: string): string {
  const { prefix, template } = views[name]!;
  if (typeof prefix === 'function') return prefix({ ctx: { userID }, profileID: '', schemaVersion: '' });
  return prefix ?? (template === undefined ? `${name}/` : '');
}

describe.each(Object.keys(describedViews.definitions))('the view %s', (name) => {
  it.each(['ada', 'bob'])('has the values that the clients of %s store, in every format', async (userID) => {
    const expectedRows = describedViews.expected(tables, userID, [name]);
    const values = Object.values(expectedRows);
    if (userID === 'ada') expect(values.length).toBeGreaterThan(0);
    expect(await (await get(name, userID)).json()).toStrictEqual(values);
    const lines = (await (await get(name, userID, { Accept: 'application/x-ndjson' })).text()).split('\n');
    expect(lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)).toStrictEqual(values);
    const { patch } = (await (await get(`${name}?since=`, userID)).json()) as Ops;
    const puts = patch.flatMap((op) => (op.op === 'put' ? [[op.key, op.value]] : []));
    expect(Object.fromEntries(puts)).toStrictEqual(expectedRows);
  });

  it.each(['ada', 'bob'])('serves each row of %s under its key without the prefix', async (userID) => {
    const prefix = prefixOf(name, userID);
    for (const [key, value] of Object.entries(describedViews.expected(tables, userID, [name]))) {
      const path = `${name}/${toPathSegment(key.slice(prefix.length))}`;
      const response = await get(path, userID);
      expect([path, await response.json()]).toStrictEqual([path, value]);
      const { patch } = (await (await get(`${path}?since=`, userID)).json()) as Ops;
      expect(patch).toStrictEqual([{ op: 'clear' }, { op: 'put', key, value }]);
    }
  });
});

it('rows of a view whose keys are times in UTC are entries by their keys', async () => {
  const { patch } = (await (await get('at?since=', 'ada')).json()) as Ops;
  const entries = patch.flatMap((op) => (op.op === 'put' ? [[op.key, op.value]] : []));
  expect(entries).toHaveLength(4);
  expect(entries.map(([key]) => key)).toContain('at 2026-02-03T04:05:06.7Z/');
  for (const [key, value] of entries) {
    expect(await (await get(`at/${toPathSegment(key as string)}`, 'ada')).json()).toBe(value);
  }
});

it.each([
  'item/space%2Fa%2Fitem%2F2',
  'item/user%2Fada%2Fspace%2Fa%2Fitem%2F1',
  'item/space%2Fa%2Fsize%2F1',
  'item/space%2F%252F%2Fitem%2F1',
  'item/1',
  'at/at%202026-02-03T04:05:06.70Z%2F',
  'at/at%202026-02-03T09:50:06.7%2B05:45%2F',
  'at/at%20tomorrow%2F',
  'at/at%20x%2F',
  'at/at%202026-02-03T04:05:06.7Z',
])('%s does not name a row', async (path) => {
  expect((await get(path, 'ada')).status).toBe(404);
});

it('a row is followed by its key, with the prefix and the cookie of its user', async () => {
  const path = 'item/space%2Fb%252F1%2Fitem%2F2%252Fx';
  const cookieOf = async (userID: string) => ((await (await get(`${path}?since=`, userID)).json()) as Ops).cookie;
  const [ada, bob] = [await cookieOf('ada'), await cookieOf('bob')];
  await database.pool.query(`update item set title = 'new' where id = '2/x'`);
  const since = async (cookie: string, userID: string) =>
    ((await (await get(`${path}?since=${cookie}`, userID)).json()) as Ops).patch;
  const value = { space: 'b/1', id: '2/x', title: 'new' };
  expect(await since(ada, 'ada')).toEqual([{ op: 'put', key: 'user/ada/space/b%2F1/item/2%2Fx', value }]);
  expect(await since(bob, 'bob')).toEqual([{ op: 'put', key: 'user/bob/space/b%2F1/item/2%2Fx', value }]);
  expect(await since(ada, 'bob')).toEqual([
    { op: 'clear' },
    { op: 'put', key: 'user/bob/space/b%2F1/item/2%2Fx', value },
  ]);
});

it('the list of views shows the patterns of keys', async () => {
  const { views: listed } = (await (await get('', 'ada')).json()) as { views: Record<string, unknown>[] };
  const of = (name: string) => listed.find((one) => one.name === name);
  expect(of('item')).toEqual({
    name: 'item', key: ['space', 'id'], keys: '…space/{space}/item/{id}', href: '/api/views/item',
  }); // biome-ignore format: short
  expect(of('named')).toMatchObject({ keys: 'named/{space}/{id}', prefix: '' });
  expect(of('title')).toMatchObject({ keys: 't:{id}', prefix: 't:' });
});
