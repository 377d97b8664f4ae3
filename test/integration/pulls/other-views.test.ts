/** A cookie is valid for the views that it was issued for. An application that serves none of them resets clients. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, PullServer } from '../../support/synced.js';

interface Row {
  id: number;
  n: number;
}

const one = defineView<Row>({ key: 'id', query: () => sql<Row>`select id, n from t where n > ${0}` });
const views: Views<Context> = { one };

let database: TestDatabase;
let server: PullServer;

beforeAll(async () => {
  const ddl = 'create table t (id int primary key, n int unique); insert into t values (1, 10), (2, 20)';
  database = await createSynced(ddl, views);
  server = new PullServer(database.url, views);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

it.each<[what: string, others: Views<Context>]>([
  ['prefix', { one: { ...one, prefix: '1/' } }],
  ['key', { one: { ...one, key: ['n'] } }],
  ['number of key columns', { one: { ...one, key: ['id', 'n'] } }],
  ['template', { one: { ...one, template: 'one/{id}' } }],
  ['prefix that is specific to the user but looks the same', { one: { ...one, prefix: () => 'one/' } }],
  ['column name', { one: { ...one, columns: { n: 'm' } } }],
  ['format of nulls', { one: { ...one, nulls: 'omit' } }],
  ['format of times', { one: { ...one, timestamps: 'UTC' } }],
  ['value', { one: { ...one, value: 'n' } }],
  ['query', { one: { ...one, query: () => sql`select id, n from t where n >= ${0}` } }],
  ['parameter', { one: { ...one, query: () => sql`select id, n from t where n > ${1}` } }],
])('a view with another %s resets the client', async (_, others) => {
  const { cookie } = await server.pull(null);
  expect((await server.pull(cookie)).patch).toEqual([]);
  const other = new PullServer(database.url, others);
  try {
    const { patch } = await other.pull(null);
    expect((await other.pull(cookie)).patch).toEqual([{ op: 'clear' }, ...patch]);
  } finally {
    await other.close();
  }
});
