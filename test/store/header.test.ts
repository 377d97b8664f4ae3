/** What the header says, by the probe and beside a patch: both ways must say the same. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import type { Installation } from '../../src/installation/installation.js';
import type { Snapshot } from '../../src/protocol/snapshot.js';
import {
  countedRows,
  type Header,
  type HeaderInput,
  headerQuery,
  type Member,
  probe,
  readHeaders,
  readPatchHeaders,
} from '../../src/store/header.js';
import type { TestDatabase } from '../database.js';
import { createSynced, installationOf, tableView } from '../synced.js';

const views = { a: tableView('a', 'id', 'a/'), b: tableView('b', 'id', 'b/') };

let database: TestDatabase;
let db: Database;
let installation: Installation;

beforeAll(async () => {
  database = await createSynced('create table a (id int primary key); create table b (id int primary key)', views);
  db = openPool(database.url, { max: 2 });
  installation = await installationOf(database.url, views);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await run('truncate tidemark.client, tidemark.client_group, tidemark.tick');
});

const run = (sql: string) => database.pool.query(sql);
const idOf = (name: string) => installation.tables.find((table) => table.name === name)!.id;

function member(clientGroupID: string, clientID?: string, sameGroup = false): Member {
  return { clientGroupID, clientID, sameGroup };
}

async function ask(input: Partial<HeaderInput>, torn = false): Promise<Header[]> {
  const whole = { base: undefined, tables: installation.tables, members: [member('g')], ...input };
  // Of one snapshot: Postgres itself may begin and end a transaction between the two.
  const [[asked], [beside]] = await db.atOneMoment(async (query) => [
    await query<{ line: string }>(probe(whole)),
    await query<{ line: string }>({ text: headerQuery(whole) }),
  ]);
  const headers = readHeaders(asked!.line);
  expect(readPatchHeaders(beside!.line)).toEqual(headers.map((header) => ({ ...header, torn })));
  return headers;
}

async function askOne(input: Partial<HeaderInput> = {}): Promise<Header> {
  const [header, ...others] = await ask(input);
  expect(others).toEqual([]);
  return header!;
}

const now = async (): Promise<Snapshot> => (await askOne()).snapshot;

describe('what has changed since the base', () => {
  it('is nothing without a base, and right after it', async () => {
    await run('insert into a select 1');
    expect(await askOne()).toMatchObject({ changed: [], truncated: false });
    expect(await askOne({ base: await now() })).toMatchObject({ changed: [], truncated: false });
    await run('delete from a');
  });

  it('is told for each table, up to what is counted', async () => {
    const base = await now();
    await run('insert into a select generate_series(1, 3)');
    expect((await askOne({ base })).changed).toEqual([[idOf('a'), 3]]);
    await run(`insert into b select generate_series(1, ${countedRows + 50})`);
    const { changed } = await askOne({ base });
    expect(new Map(changed.map(([table, rows]) => [table, rows]))).toEqual(
      new Map([
        [idOf('a'), 3],
        [idOf('b'), countedRows],
      ]),
    );
    expect((await askOne({ base, tables: installation.tables.filter(({ name }) => name === 'a') })).changed).toEqual([
      [idOf('a'), 3],
    ]);
    await run('delete from a; delete from b');
  });

  it('is what a transaction wrote that was open then, once it has committed', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    await writer.query('begin; insert into a values (1)');
    await run('insert into b values (1)');
    const base = await now();
    expect((await askOne({ base })).changed).toEqual([]);
    await writer.query('commit');
    await writer.end();
    expect((await askOne({ base })).changed).toEqual([[idOf('a'), 1]]);
    await run('delete from a; delete from b');
  });

  it('is a truncation, of the tables that are read', async () => {
    const base = await now();
    await run('truncate b');
    // The table has other files than it is known by.
    const [known] = await ask({ base }, true);
    expect(known).toMatchObject({ truncated: true });
    installation = await installationOf(database.url, views);
    const tables = installation.tables.filter(({ name }) => name === 'a');
    expect(await askOne({ base })).toMatchObject({ truncated: true });
    expect(await askOne({ base, tables })).toMatchObject({ truncated: false });
    expect(await askOne({ base: await now() })).toMatchObject({ truncated: false });
  });
});

describe('a client group', () => {
  const push = (clientID: string, id: number) =>
    run(`insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
         values ('${clientID}', 'g', ${id}, pg_current_xact_id())
         on conflict (id) do update set last_mutation_id = ${id}, xid = pg_current_xact_id()`);

  it('has an owner, clients and a sum of mutation IDs once it is known', async () => {
    expect(await askOne()).toMatchObject({ owner: null, clientKnown: true, lastMutationIDs: null, mutations: 0 });
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann')");
    await push('c', 3);
    await push('d', 4);
    expect(await askOne()).toMatchObject({ owner: 'ann', lastMutationIDs: { c: 3, d: 4 }, mutations: 7 });
  });

  it('is told the mutation IDs that moved since its own cookie, and all of them for that of another group', async () => {
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann')");
    await push('c', 3);
    const base = await now();
    await push('d', 4);
    expect(await askOne({ base, members: [member('g', undefined, true)] })).toMatchObject({
      lastMutationIDs: { d: 4 },
      mutations: 7,
    });
    expect(await askOne({ base })).toMatchObject({ lastMutationIDs: { c: 3, d: 4 } });
    expect(await askOne({ base: await now(), members: [member('g', undefined, true)] })).toMatchObject({
      lastMutationIDs: null,
      mutations: 7,
    });
  });

  it('knows its own clients, and those of no other group', async () => {
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann'), ('h', 'ann')");
    await push('c', 3);
    const asked = [member('g', 'c'), member('h', 'c'), member('g', 'new'), member('unknown')];
    expect(
      (await ask({ members: asked })).map(({ owner, clientKnown, mutations }) => [owner, clientKnown, mutations]),
    ).toEqual([
      ['ann', true, 3],
      ['ann', false, 0],
      ['ann', false, 3],
      [null, true, 0],
    ]);
  });
});

describe('the history of the database', () => {
  it('is known by its newest tick that every open transaction is younger than', async () => {
    expect(await askOne()).toMatchObject({ tick: null, diverged: false, recovery: false });
    const tick = async () =>
      (
        await run(`insert into tidemark.tick (oldest_xid, snapshot)
          select pg_snapshot_xmin(s), s from pg_current_snapshot() s returning id`)
      ).rows[0].id as string;
    const first = await tick();
    const second = await tick();
    expect(await askOne({ tick: first })).toMatchObject({ tick: second, diverged: false });
    expect(await askOne({ tick: '00000000-0000-4000-8000-000000000000' })).toMatchObject({ diverged: true });
  });

  it('goes on with the transaction ID that comes next', async () => {
    const { snapshot, next } = await askOne();
    expect(next).toBeGreaterThanOrEqual(snapshot.xmax);
    await run('select pg_current_xact_id()');
    expect((await askOne()).next).toBeGreaterThan(next);
  });

  it('is of this database and installation', async () => {
    const { rows } = await run(
      'select oid::text as database, install_id as "installID" from pg_database, tidemark.meta where datname = current_database()',
    );
    expect(await askOne()).toMatchObject(rows[0]);
  });
});
