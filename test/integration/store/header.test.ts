/** What a report says, alone and beside a patch: both ways must say the same. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import type { Installation } from '../../../src/installation/installation.js';
import type { Snapshot } from '../../../src/protocol/snapshot.js';
import {
  type Header,
  headerOf,
  type Member,
  mostMutations,
  mostRows,
  type Report,
  readPatchReport,
  readReport,
  type SharedHeader,
} from '../../../src/store/header.js';
import { literalReport, look, news } from '../../../src/store/look.js';
import type { SyncedTable } from '../../../src/store/patches/states.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, installationOf, tableView } from '../../support/synced.js';

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

interface Input {
  readonly base?: Snapshot;
  readonly tick?: string;
  readonly isListed?: boolean;
  readonly tables?: readonly SyncedTable[];
  readonly members?: readonly Member[];
}

async function report({ base, tick, isListed, tables = installation.tables, members = [] }: Input, torn = false) {
  const groupIDs = [...new Set(members.map(({ clientGroupID }) => clientGroupID))];
  const input = { base, tick, isListed, tables: tables.map(({ id }) => id), groupIDs };
  // Of one snapshot: Postgres itself may begin and end a transaction between the two.
  const [[asked], [beside]] = await db.atOneMoment(async (query) => [
    await query<{ line: string }>(look(input)),
    await query<{ line: string }>({ text: literalReport(input, tables) }),
  ]);
  const found: Report = readReport(asked!.line);
  const other = readPatchReport(beside!.line);
  // The log may have grown between the two.
  expect(other.header.history!.lsn).toBeGreaterThanOrEqual(found.header.history!.lsn);
  const history = { ...other.header.history!, lsn: found.header.history!.lsn };
  expect({ ...other, header: { ...other.header, history } }).toEqual({ ...found, torn });
  return found;
}

async function ask(input: Input, torn = false): Promise<Header[]> {
  const { members = [member('g')], base } = input;
  const found = await report({ ...input, members }, torn);
  return members.map((one) => headerOf(found, one, base));
}

const askOne = async (input: Input = {}): Promise<Header> => (await ask(input))[0]!;

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
    await run(`insert into b select generate_series(1, ${mostRows + 50})`);
    const { changed } = await askOne({ base });
    expect(new Map(changed.map(([table, rows]) => [table, rows]))).toEqual(
      new Map([
        [idOf('a'), 3],
        [idOf('b'), mostRows],
      ]),
    );
    expect((await askOne({ base, tables: installation.tables.filter(({ name }) => name === 'a') })).changed).toEqual([
      [idOf('a'), 3],
    ]);
    await run('delete from a; delete from b');
  });

  it('is listed by transaction, with the mutations, if that is wanted', async () => {
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann')");
    const base = await now();
    const writer = new pg.Client(database.url);
    await writer.connect();
    const xid = async (statements: string): Promise<string> => {
      await writer.query(`begin; ${statements}`);
      const { rows } = await writer.query('select pg_current_xact_id()::text as xid');
      await writer.query('commit');
      return rows[0].xid as string;
    };
    const one = await xid('insert into a select generate_series(1, 3); insert into b values (1); truncate b');
    const two = await xid(`insert into a values (4);
      insert into tidemark.client (id, client_group_id, last_mutation_id, xid) values ('c', 'g', 1, pg_current_xact_id())`);
    await writer.end();
    installation = await installationOf(database.url, views);
    const listed = await report({ base, isListed: true });
    expect(new Map(listed.changes.map(([table, ...rest]) => [table, rest]))).toEqual(
      new Map([
        [
          idOf('a'),
          [
            4,
            expect.arrayContaining([
              [one, 3],
              [two, 1],
            ]),
          ],
        ],
        [idOf('b'), [2, [[one, 2]]]],
      ]),
    );
    expect(listed).toMatchObject({ truncations: [[idOf('b'), one]], mutations: [['g', 'ann', two]] });
    expect(await report({ base })).toMatchObject({ truncations: [[idOf('b'), one]], mutations: [] });
    expect((await report({ base })).changes.every(([, , xids]) => xids === null)).toBe(true);
    await run('delete from a');
  });

  it('lists no more mutations than a bound', async () => {
    const base = await now();
    await run(`insert into tidemark.client_group (id, user_id) values ('g', 'ann');
      insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
      select n, 'g', 1, pg_current_xact_id() from generate_series(1, ${mostMutations} + 5) n`);
    expect((await report({ base, isListed: true })).mutations).toHaveLength(mostMutations);
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
    await run('insert into b values (1)');
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

  it('says what it shows, and remembers of that what is kept', async () => {
    await run('delete from tidemark.tick; delete from tidemark.change');
    const { horizon } = await askOne();
    expect((await askOne()).snapshot.xmax).toBe(horizon);
    const idIn = async (writer: pg.Client, text: string) => {
      await writer.query(`begin; ${text}`);
      return BigInt((await writer.query('select pg_current_xact_id() as xid')).rows[0].xid);
    };
    const [open, writer] = [new pg.Client(database.url), new pg.Client(database.url)];
    await Promise.all([open.connect(), writer.connect()]);
    const opened = await idIn(open, 'insert into a values (71)');
    const kept = await idIn(writer, 'insert into a values (72)');
    await writer.query('commit');
    const rolledBack = await idIn(writer, 'insert into a values (73)');
    await writer.query('rollback');
    const { snapshot, shown } = await askOne();
    expect(shown.xmax).toBeGreaterThan(rolledBack);
    expect(snapshot).toMatchObject({ text: `${opened}:${kept + 1n}:${opened}`, xmin: opened, xmax: kept + 1n });
    // Else, a snapshot that was taken for the sake of one table would know less than one for the sake of another.
    const ofB = await askOne({ tables: installation.tables.filter(({ name }) => name === 'b') });
    expect(ofB.snapshot.text).toBe(snapshot.text);
    const ticked = await idIn(writer, 'insert into tidemark.tick (oldest_xid) values (pg_current_xact_id())');
    await writer.query('commit');
    expect((await askOne()).snapshot.xmax).toBe(ticked + 1n);
    await open.query('rollback');
    await Promise.all([open.end(), writer.end()]);
    await run('delete from a');
  });

  it('is of this database and installation', async () => {
    const { rows } = await run(
      'select oid::text as database, install_id as "installID" from pg_database, tidemark.meta where datname = current_database()',
    );
    expect(await askOne()).toMatchObject(rows[0]);
  });
});

describe('news', () => {
  const seenIn = async () => (await report({})).header;
  const hear = async (seen: SharedHeader | undefined) =>
    (await db.query<{ line: string }>(news({ base: seen?.snapshot, tables: [] }, seen))).length > 0;

  it('are all that there is, if nothing has been seen', async () => {
    expect(await hear(undefined)).toBe(true);
  });

  it('are none while the database is as it was, and some after any commit or begun transaction', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    // Postgres itself may begin and end a transaction between the two.
    await expect.poll(async () => hear(await seenIn())).toBe(false);
    const seen = await seenIn();
    await writer.query('begin; select pg_current_xact_id()');
    expect(await hear(seen)).toBe(true);
    // It is none that it is still open at the next look.
    await expect.poll(async () => hear(await seenIn())).toBe(false);
    const begun = await seenIn();
    await writer.query('commit');
    await writer.end();
    expect(await hear(begun)).toBe(true);
  });

  it('are some on another server', async () => {
    expect(await hear({ ...(await seenIn()), started: '0' })).toBe(true);
  });
});
