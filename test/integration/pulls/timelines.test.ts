/** Timelines on one primary: what servers record, and what cookies contain. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import type { Cookie } from '../../../packages/tidemark/src/protocol/cookie.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

const views = wholeTable('item');

let database: TestDatabase;
let servers: PullServer[];
let client: SyncClient;

beforeEach(async () => {
  database = await createSynced('create table item (id int primary key)', views);
  servers = [];
  client = new SyncClient(server());
});
afterEach(async () => {
  for (const one of servers) await one.close();
  await database.drop();
});

/** A server that has read nothing yet. */
function server(): PullServer {
  const one = new PullServer(database.url, views);
  servers.push(one);
  return one;
}

const run = (sql: string) => database.pool.query(sql);
const reasons = () => servers.flatMap(({ lines }) => lines.lines.flatMap(({ fields }) => fields.reason ?? []));
const timelineOf = ({ cookie }: SyncClient) => (cookie as Cookie).walPosition.split('/')[0];

let n = 0;
/** Changes a row, so that there is a new cookie. */
async function pullFrom(one: PullServer): Promise<void> {
  await run(`insert into item values (${++n})`);
  await client.pull(one);
  const { rows } = await run('select id from item');
  expect(client.rows.size).toBe(rows.length);
}

it('a server records a timeline before it uses it, even if it has just read the schema state', async () => {
  const one = server();
  await pullFrom(one);
  const before = timelineOf(client);
  const timelines = (await run('select id from tidemark.timeline')).rows;
  expect(timelines).toEqual([{ id: before }]);
  await run('delete from tidemark.timeline');
  await pullFrom(one);
  expect((await run('select id from tidemark.timeline')).rows).toEqual([{ id: timelineOf(client) }]);
  expect(timelineOf(client)).not.toBe(before);
  expect(reasons()).toEqual(['database']);
});

it('a server reads the schema state again if it was read before the timeline was recorded', async () => {
  const one = server();
  for (let i = 0; i < 3; i++) await pullFrom(one);
  const before = timelineOf(client);
  await run('delete from tidemark.timeline');
  await pullFrom(one);
  expect(timelineOf(client)).not.toBe(before);
});

it('servers that start together record a timeline once', async () => {
  const all = Array.from({ length: 8 }, server);
  await Promise.all(all.map((one) => one.pull(null)));
  expect((await run('select number, since from tidemark.timeline')).rows).toEqual([{ number: 1, since: null }]);
});

it('a cookie contains a WAL position after everything that it shows', async () => {
  for (let i = 0; i < 5; i++) {
    const { rows } = await run('select pg_current_wal_lsn() as lsn');
    await pullFrom(servers[0]!);
    const lsn = (client.cookie as Cookie).walPosition.split('/')[1];
    const between = await run(`
      select ${lsn} >= ('${rows[0].lsn}'::pg_lsn - '0/0') and ${lsn} <= (pg_current_wal_lsn() - '0/0') as between`);
    expect(between.rows).toEqual([{ between: true }]);
  }
});

it('a heartbeat contains its timeline and a WAL position', async () => {
  const db = openPool(database.url, { max: 1 });
  await prune(db, 3600).finally(() => db.close());
  const { rows } = await run(`select timeline, position is null as "isNowhere" from tidemark.heartbeat`);
  expect(rows).toEqual([{ timeline: 1, isNowhere: false }]);
});
