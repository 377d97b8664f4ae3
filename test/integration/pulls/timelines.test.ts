/** Timelines on one primary: what is recorded, and what cookies say of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../src/db/pg.js';
import type { Cookie } from '../../../src/protocol/cookie.js';
import { prune } from '../../../src/store/retention.js';
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

/** One that has read nothing yet. */
function server(): PullServer {
  const one = new PullServer(database.url, views);
  servers.push(one);
  return one;
}

const run = (sql: string) => database.pool.query(sql);
const reasons = () => servers.flatMap(({ lines }) => lines.lines.flatMap(({ fields }) => fields.reason ?? []));
const timelineOf = ({ cookie }: SyncClient) => (cookie as Cookie).position.split('/')[0];

let n = 0;
/** Changes something, so that there is a new cookie. */
async function pullFrom(one: PullServer): Promise<void> {
  await run(`insert into item values (${++n})`);
  await client.pull(one);
  const { rows } = await run('select id from item');
  expect(client.rows.size).toBe(rows.length);
}

it('records a timeline before it tells anything on it, though the installation was read a moment ago', async () => {
  const one = server();
  await pullFrom(one);
  const before = timelineOf(client);
  const known = (await run('select id from tidemark.timeline')).rows;
  expect(known).toEqual([{ id: before }]);
  await run('delete from tidemark.timeline');
  await pullFrom(one);
  expect((await run('select id from tidemark.timeline')).rows).toEqual([{ id: timelineOf(client) }]);
  expect(timelineOf(client)).not.toBe(before);
  expect(reasons()).toEqual(['epoch']);
});

it('looks again when what it knows was read before the timeline was recorded', async () => {
  const one = server();
  for (let i = 0; i < 3; i++) await pullFrom(one);
  const before = timelineOf(client);
  await run('delete from tidemark.timeline');
  await pullFrom(one);
  expect(timelineOf(client)).not.toBe(before);
});

it('records it once, however many servers begin', async () => {
  const all = Array.from({ length: 8 }, server);
  await Promise.all(all.map((one) => one.pull(null)));
  expect((await run('select number, since from tidemark.timeline')).rows).toEqual([{ number: 1, since: null }]);
});

it('gives a position before which lies all that is shown', async () => {
  for (let i = 0; i < 5; i++) {
    const { rows } = await run('select pg_current_wal_lsn() as lsn');
    await pullFrom(servers[0]!);
    const lsn = (client.cookie as Cookie).position.split('/')[1];
    const between = await run(`
      select ${lsn} >= ('${rows[0].lsn}'::pg_lsn - '0/0') and ${lsn} <= (pg_current_wal_lsn() - '0/0') as between`);
    expect(between.rows).toEqual([{ between: true }]);
  }
});

it('a tick says which timeline it is on, and a position on it', async () => {
  const db = openPool(database.url, { max: 1 });
  await prune(db, 3600).finally(() => db.close());
  const { rows } = await run(`select timeline, position is null as "isNowhere" from tidemark.tick`);
  expect(rows).toEqual([{ timeline: 1, isNowhere: false }]);
});
