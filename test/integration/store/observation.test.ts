/** Observations, alone and next to a patch: both must be the same. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import type { Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import type { SchemaState } from '../../../packages/tidemark/src/schema/schema-state.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import type { GroupRequest } from '../../../packages/tidemark/src/store/polls/group-state.js';
import {
  type DatabaseState,
  maxMutations,
  maxRows,
  type Observation,
  type ObservedState,
  observedStateOf,
  readObservation,
  readPatchObservation,
} from '../../../packages/tidemark/src/store/polls/observation.js';
import { literalObservation, pollIfChanged, pollStatement } from '../../../packages/tidemark/src/store/polls/poll.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, installationOf, tableView } from '../../support/synced.js';

const views = { a: tableView('a', 'id', 'a/'), b: tableView('b', 'id', 'b/') };

let database: TestDatabase;
let db: Database;
let schema: SchemaState;

beforeAll(async () => {
  database = await createSynced('create table a (id int primary key); create table b (id int primary key)', views);
  db = openPool(database.url, { max: 2 });
  schema = await installationOf(database.url, views);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await run('truncate tidemark.client, tidemark.client_group, tidemark.heartbeat');
});

const run = (sql: string) => database.pool.query(sql);
const idOf = (name: string) => schema.tables.find((table) => table.name === name)!.id;

function groupRequest(clientGroupID: string, clientID?: string, sameGroup = false): GroupRequest {
  return { clientGroupID, clientID, sameGroup };
}

interface Input {
  readonly base?: Snapshot;
  readonly heartbeat?: string;
  readonly isListed?: boolean;
  readonly tables?: readonly SyncedTable[];
  readonly requests?: readonly GroupRequest[];
}

async function observe({ base, heartbeat, isListed, tables = schema.tables, requests = [] }: Input, torn = false) {
  const groupIDs = [...new Set(requests.map(({ clientGroupID }) => clientGroupID))];
  const input = { base, heartbeat, isListed, tables: tables.map(({ id }) => id), groupIDs };
  // In one snapshot, because Postgres itself may begin and end a transaction between the two.
  const [[alone], [withPatch]] = await db.inSnapshot(async (query) => [
    await query<{ line: string }>(pollStatement(input)),
    await query<{ line: string }>({ text: literalObservation(input, tables) }),
  ]);
  const observation: Observation = readObservation(alone!.line);
  const other = readPatchObservation(withPatch!.line);
  // The write-ahead log may have grown between the two.
  expect(other.state.history!.lsn).toBeGreaterThanOrEqual(observation.state.history!.lsn);
  const history = { ...other.state.history!, lsn: observation.state.history!.lsn };
  expect({ ...other, state: { ...other.state, history } }).toEqual({ ...observation, torn });
  return observation;
}

async function statesOf(input: Input, torn = false): Promise<ObservedState[]> {
  const { requests = [groupRequest('g')], base } = input;
  const observation = await observe({ ...input, requests }, torn);
  return requests.map((request) => observedStateOf(observation, request, base));
}

const stateOf = async (input: Input = {}): Promise<ObservedState> => (await statesOf(input))[0]!;

const now = async (): Promise<Snapshot> => (await stateOf()).snapshot;

describe('the changes since the base', () => {
  it('are none without a base, and immediately after it', async () => {
    await run('insert into a select 1');
    expect(await stateOf()).toMatchObject({ changeCounts: [], truncated: false });
    expect(await stateOf({ base: await now() })).toMatchObject({ changeCounts: [], truncated: false });
    await run('delete from a');
  });

  it('are counted for each table, up to the limit', async () => {
    const base = await now();
    await run('insert into a select generate_series(1, 3)');
    expect((await stateOf({ base })).changeCounts).toEqual([[idOf('a'), 3]]);
    await run(`insert into b select generate_series(1, ${maxRows + 50})`);
    const { changeCounts } = await stateOf({ base });
    expect(new Map(changeCounts.map(([table, rows]) => [table, rows]))).toEqual(
      new Map([
        [idOf('a'), 3],
        [idOf('b'), maxRows],
      ]),
    );
    expect((await stateOf({ base, tables: schema.tables.filter(({ name }) => name === 'a') })).changeCounts).toEqual([
      [idOf('a'), 3],
    ]);
    await run('delete from a; delete from b');
  });

  it('are listed by transaction, with the mutations, on request', async () => {
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
    schema = await installationOf(database.url, views);
    const listed = await observe({ base, isListed: true });
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
    expect(await observe({ base })).toMatchObject({ truncations: [[idOf('b'), one]], mutations: [] });
    expect((await observe({ base })).changes.every(([, , xids]) => xids === null)).toBe(true);
    await run('delete from a');
  });

  it('are listed with a limited number of mutations', async () => {
    const base = await now();
    await run(`insert into tidemark.client_group (id, user_id) values ('g', 'ann');
      insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
      select n, 'g', 1, pg_current_xact_id() from generate_series(1, ${maxMutations} + 5) n`);
    expect((await observe({ base, isListed: true })).mutations).toHaveLength(maxMutations);
  });

  it('include those of a transaction that was open at the base and has committed', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    await writer.query('begin; insert into a values (1)');
    await run('insert into b values (1)');
    const base = await now();
    expect((await stateOf({ base })).changeCounts).toEqual([]);
    await writer.query('commit');
    await writer.end();
    expect((await stateOf({ base })).changeCounts).toEqual([[idOf('a'), 1]]);
    await run('delete from a; delete from b');
  });

  it('include truncations of the tables that are read', async () => {
    await run('insert into b values (1)');
    const base = await now();
    await run('truncate b');
    // The table has other files than those on record.
    const [state] = await statesOf({ base }, true);
    expect(state).toMatchObject({ truncated: true });
    schema = await installationOf(database.url, views);
    const tables = schema.tables.filter(({ name }) => name === 'a');
    expect(await stateOf({ base })).toMatchObject({ truncated: true });
    expect(await stateOf({ base, tables })).toMatchObject({ truncated: false });
    expect(await stateOf({ base: await now() })).toMatchObject({ truncated: false });
  });
});

describe('a client group', () => {
  const push = (clientID: string, id: number) =>
    run(`insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
         values ('${clientID}', 'g', ${id}, pg_current_xact_id())
         on conflict (id) do update set last_mutation_id = ${id}, xid = pg_current_xact_id()`);

  it('has an owner, clients and a sum of mutation IDs once it is registered', async () => {
    expect(await stateOf()).toMatchObject({ owner: null, clientKnown: true, lastMutationIDs: null, mutations: 0 });
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann')");
    await push('c', 3);
    await push('d', 4);
    expect(await stateOf()).toMatchObject({ owner: 'ann', lastMutationIDs: { c: 3, d: 4 }, mutations: 7 });
  });

  it('gets the mutation IDs changed since its own cookie, or all with the cookie of another group', async () => {
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann')");
    await push('c', 3);
    const base = await now();
    await push('d', 4);
    expect(await stateOf({ base, requests: [groupRequest('g', undefined, true)] })).toMatchObject({
      lastMutationIDs: { d: 4 },
      mutations: 7,
    });
    expect(await stateOf({ base })).toMatchObject({ lastMutationIDs: { c: 3, d: 4 } });
    expect(await stateOf({ base: await now(), requests: [groupRequest('g', undefined, true)] })).toMatchObject({
      lastMutationIDs: null,
      mutations: 7,
    });
  });

  it('includes its own clients, and no clients of another group', async () => {
    await run("insert into tidemark.client_group (id, user_id) values ('g', 'ann'), ('h', 'ann')");
    await push('c', 3);
    const requests = [
      groupRequest('g', 'c'),
      groupRequest('h', 'c'),
      groupRequest('g', 'new'),
      groupRequest('unknown'),
    ];
    expect(
      (await statesOf({ requests })).map(({ owner, clientKnown, mutations }) => [owner, clientKnown, mutations]),
    ).toEqual([
      ['ann', true, 3],
      ['ann', false, 0],
      ['ann', false, 3],
      [null, true, 0],
    ]);
  });
});

describe('the history of the database', () => {
  it('is identified by the newest heartbeat that is older than every open transaction', async () => {
    expect(await stateOf()).toMatchObject({ heartbeat: null, diverged: false, recovery: false });
    const writeHeartbeat = async () =>
      (
        await run(`insert into tidemark.heartbeat (oldest_xid, snapshot)
          select pg_snapshot_xmin(s), s from pg_current_snapshot() s returning id`)
      ).rows[0].id as string;
    const first = await writeHeartbeat();
    const second = await writeHeartbeat();
    expect(await stateOf({ heartbeat: first })).toMatchObject({ heartbeat: second, diverged: false });
    expect(await stateOf({ heartbeat: '00000000-0000-4000-8000-000000000000' })).toMatchObject({ diverged: true });
  });

  it('continues with the next transaction ID', async () => {
    const { snapshot, nextXid } = await stateOf();
    expect(nextXid).toBeGreaterThanOrEqual(snapshot.xmax);
    await run('select pg_current_xact_id()');
    expect((await stateOf()).nextXid).toBeGreaterThan(nextXid);
  });

  it('reports the visible snapshot, and the part of it that a crash cannot undo', async () => {
    await run('delete from tidemark.heartbeat; delete from tidemark.change');
    const { horizon } = await stateOf();
    expect((await stateOf()).snapshot.xmax).toBe(horizon);
    const idIn = async (writer: pg.Client, text: string) => {
      await writer.query(`begin; ${text}`);
      return BigInt((await writer.query('select pg_current_xact_id() as xid')).rows[0].xid);
    };
    const [open, writer] = [new pg.Client(database.url), new pg.Client(database.url)];
    await Promise.all([open.connect(), writer.connect()]);
    const opened = await idIn(open, 'insert into a values (71)');
    const committed = await idIn(writer, 'insert into a values (72)');
    await writer.query('commit');
    const rolledBack = await idIn(writer, 'insert into a values (73)');
    await writer.query('rollback');
    const { snapshot, visibleSnapshot } = await stateOf();
    expect(visibleSnapshot.xmax).toBeGreaterThan(rolledBack);
    expect(snapshot).toMatchObject({
      text: `${opened}:${committed + 1n}:${opened}`,
      xmin: opened,
      xmax: committed + 1n,
    });
    // Otherwise, a snapshot taken for one table would have seen less than one taken for another.
    const ofB = await stateOf({ tables: schema.tables.filter(({ name }) => name === 'b') });
    expect(ofB.snapshot.text).toBe(snapshot.text);
    const heartbeat = await idIn(writer, 'insert into tidemark.heartbeat (oldest_xid) values (pg_current_xact_id())');
    await writer.query('commit');
    expect((await stateOf()).snapshot.xmax).toBe(heartbeat + 1n);
    await open.query('rollback');
    await Promise.all([open.end(), writer.end()]);
    await run('delete from a');
  });

  it('names this database and installation of Tidemark', async () => {
    const { rows } = await run(
      'select oid::text as database, install_id as "installID" from pg_database, tidemark.meta where datname = current_database()',
    );
    expect(await stateOf()).toMatchObject(rows[0]);
  });
});

describe('a poll', () => {
  const observedState = async () => (await observe({})).state;
  const reports = async (previous: DatabaseState | undefined) =>
    (await db.query<{ line: string }>(pollIfChanged({ base: previous?.snapshot, tables: [] }, previous))).length > 0;

  it('reports the state if there is no previous one', async () => {
    expect(await reports(undefined)).toBe(true);
  });

  it('reports nothing until a transaction begins or commits', async () => {
    const writer = new pg.Client(database.url);
    await writer.connect();
    // Postgres itself may begin and end a transaction between the two.
    await expect.poll(async () => reports(await observedState())).toBe(false);
    const previous = await observedState();
    await writer.query('begin; select pg_current_xact_id()');
    expect(await reports(previous)).toBe(true);
    // It is no change that the transaction is still open at the next poll.
    await expect.poll(async () => reports(await observedState())).toBe(false);
    const begun = await observedState();
    await writer.query('commit');
    await writer.end();
    expect(await reports(begun)).toBe(true);
  });

  it('reports the state of another server', async () => {
    expect(await reports({ ...(await observedState()), serverStart: '0' })).toBe(true);
  });
});
