/** Timelines and the forms of cookies, on one primary: what is written, and what is read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../src/db/pg.js';
import type { Cookie } from '../../src/protocol/cookie.js';
import { prune } from '../../src/store/retention.js';
import type { TestDatabase } from '../database.js';
import { withoutTimelines } from '../installation/schema-before.js';
import { createSynced, PullServer, SyncClient, wholeTable } from '../synced.js';

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
const formOf = ({ cookie }: SyncClient) => ('position' in (cookie as Cookie) ? 'second' : 'first');
const timelineOf = ({ cookie }: SyncClient) => (cookie as Cookie).position?.split('/')[0];

/** As a server of the version before writes them, which knows no other form than the first. */
const tickBefore = `insert into tidemark.tick (oldest_xid, snapshot, system_identifier)
  select pg_snapshot_xmin(s), s, system_identifier from pg_current_snapshot() s, pg_control_system()`;

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
    const lsn = (client.cookie as Cookie).position!.split('/')[1];
    const between = await run(`
      select ${lsn} >= ('${rows[0].lsn}'::pg_lsn - '0/0') and ${lsn} <= (pg_current_wal_lsn() - '0/0') as between`);
    expect(between.rows).toEqual([{ between: true }]);
  }
});

describe('forms of cookies', () => {
  it('the first is written for three minutes after a tick of a server that can read no other', async () => {
    await pullFrom(server());
    expect(formOf(client)).toBe('second');
    await run(tickBefore);
    await pullFrom(server());
    expect(formOf(client)).toBe('first');
    await run(`update tidemark.tick set at = at - interval '170 seconds'`);
    await pullFrom(server());
    expect(formOf(client)).toBe('first');
    await run(`update tidemark.tick set at = at - interval '20 seconds'`);
    await pullFrom(server());
    expect(formOf(client)).toBe('second');
    expect(reasons()).toEqual([]);
  });

  it('the second is written beside ticks of servers that can read it', async () => {
    const db = openPool(database.url, { max: 1 });
    await prune(db, 3600).finally(() => db.close());
    const { rows } = await run(`select cookie_form, timeline, position is null as "isNowhere" from tidemark.tick`);
    expect(rows).toEqual([{ cookie_form: 2, timeline: 1, isNowhere: false }]);
    await pullFrom(server());
    expect(formOf(client)).toBe('second');
  });

  it('with the schema of the version before, the first is written', async () => {
    await run(withoutTimelines);
    const db = openPool(database.url, { max: 1 });
    await prune(db, 3600).finally(() => db.close());
    expect((await run('select bytes from tidemark.tick')).rows).toHaveLength(1);
    await pullFrom(server());
    expect(formOf(client)).toBe('first');
    expect(reasons()).toEqual([]);
  });

  it('a cookie of the second form is good for nothing in a schema without timelines', async () => {
    await pullFrom(server());
    await run(withoutTimelines);
    await pullFrom(server());
    expect(reasons()).toEqual(['epoch']);
    expect(formOf(client)).toBe('first');
  });
});
