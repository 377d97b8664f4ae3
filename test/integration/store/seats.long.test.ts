/** A statement for many seats yields for each of them what a statement of its own yields. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { parseSnapshot, type Snapshot } from '../../../src/protocol/snapshot.js';
import { sql } from '../../../src/sql.js';
import { findAffected } from '../../../src/store/affected.js';
import { changesOf } from '../../../src/store/patches/patch-sql.js';
import { type SeatedLine, seatedSql, seatedValues, seatOf } from '../../../src/store/patches/seats.js';
import { type BoundView, ClientViews } from '../../../src/view/client-views.js';
import { defineView, type Views } from '../../../src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, installationOf } from '../../support/synced.js';

/** Postgres reads memberships into a hash table, since they are not all that a list can be seen for. */
const memberships: Views<Context> = {
  todos: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select * from todo where list_id in (
      select id from list where owner_id = ${ctx.userID} or id in (select list_id from share where user_id = ${ctx.userID}))`,
  }),
};

/** Parameters as applications seldom have them: of a composite type, and an array, with another one after them. */
const pairs: Views<Context> = {
  todos: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) =>
      sql`select * from todo where pair = ${`(${ctx.userID.length},${ctx.userID})`}::pair and marks = ${[ctx.userID]} and id > ${1}`,
  }),
};

const users = ['ada', 'bob', 'cleo', 'dan'];

let views: Views<Context>;
let database: TestDatabase;
let db: Database;

async function setUp(served: Views<Context>, ddl: string): Promise<void> {
  views = served;
  database = await createSynced(ddl, views);
  db = openPool(database.pool);
}

const run = (text: string) => database.pool.query(text);

async function now(): Promise<Snapshot> {
  const { rows } = await database.pool.query<{ now: string }>('select pg_current_snapshot()::text as now');
  return parseSnapshot(rows[0]!.now)!;
}

/** What has changed since a snapshot, and what everyone sees. */
async function read(base: Snapshot) {
  const installation = await installationOf(database.pool, views);
  const clientViews = new ClientViews(db, views);
  const seen = await Promise.all(
    users.map((userID) => clientViews.bind({ ctx: { userID }, profileID: '', schemaVersion: '' }, '')),
  );
  const changes = changesOf(installation.tables, new Map(installation.tables.map(({ id }) => [id, 9])));
  return { base, installation, changes, seen };
}

type Known = Awaited<ReturnType<typeof read>>;

/** The ops for some users, by a single statement. */
async function opsFor(places: readonly number[], { base, installation, changes, seen }: Known): Promise<string[][]> {
  const isShared = places.length > 1;
  const compiled = seen[0]!.map(({ view }) => view);
  const input = { base, tables: installation.tableIDs, groupIDs: [] };
  const seats = places.map((place) => seatOf(seen[place]!));
  const values = seatedValues(input, installation.tables, seats, isShared);
  const { rows } = await database.pool.query<SeatedLine>({ text: seatedSql(compiled, changes, isShared), values });
  const [, ...ops] = rows;
  return places.map((_, i) => ops.flatMap(({ seat, line }) => (seat === (isShared ? i : null) ? line! : [])).sort());
}

/** Those of some users whose view has changed, by a single statement. */
async function affected(places: readonly number[], { base, changes, seen }: Known): Promise<number[]> {
  const [{ view }] = seen[0] as [BoundView];
  const seats = places.map((place) => seen[place]![0]!);
  const found = await findAffected(db, { view, seats, mode: 'net', timeoutMs: 10_000 }, changes, base);
  return found.map((seat) => places[seat]!).sort();
}

async function expectEachTheirs(base: Snapshot): Promise<void> {
  const known = await read(base);
  const places = [...users.keys()];
  const alone: string[][] = [];
  const changed: number[] = [];
  for (const place of places) {
    alone.push(...(await opsFor([place], known)));
    changed.push(...(await affected([place], known)));
  }
  expect(alone.some((ops) => ops.length > 0)).toBe(true);
  expect(alone).toContainEqual([]);
  expect(changed).toEqual(places.filter((place) => alone[place]!.length > 0));
  expect(await opsFor(places, known)).toEqual(alone);
  expect(await affected(places, known)).toEqual(changed);
}

describe.each([
  ['a table', ''],
  ['a partitioned table', 'partition by hash (id)'],
])('subqueries over %s that depend on the user', (_, partitioning) => {
  beforeAll(async () => {
    await setUp(
      memberships,
      `create table list (id int primary key, owner_id text) ${partitioning};
       create table share (list_id int, user_id text, primary key (list_id, user_id));
       create table todo (id int primary key, list_id int)`,
    );
    if (partitioning === '') return;
    const parts = [0, 1, 2].map(
      (part) => `create table list_${part} partition of list for values with (modulus 3, remainder ${part})`,
    );
    await run(parts.join(';'));
  });
  afterAll(() => database.drop());

  beforeEach(async () => {
    await run(`
      truncate list, share, todo;
      insert into list select n, 'x' from generate_series(1, 9) n;
      insert into share values (2, 'ada'), (3, 'bob'), (3, 'cleo'), (4, 'ada'), (5, 'bob');
      insert into todo select n, n from generate_series(1, 9) n`);
  });

  it.each([
    ['rows go', 'delete from list where id = 1; delete from todo where id < 4'],
    [
      'a row moves, and another list goes',
      'delete from todo where id = 2; update todo set list_id = 1 where id = 3; delete from list where id = 2',
    ],
    [
      'rows come',
      'insert into todo select 10 + n, n from generate_series(1, 9) n; update list set owner_id = owner_id',
    ],
    ['rows move', `update todo set list_id = 10 - list_id; update list set owner_id = 'cleo' where id = 9`],
    [
      'members come and go',
      `update share set user_id = 'eve' where list_id = 3 and user_id = 'bob'; insert into share values (6, 'cleo')`,
    ],
    [
      'lists come and go',
      `delete from list where id < 3; insert into list values (10, 'ada'); update todo set list_id = 10 where id > 4`,
    ],
  ])('%s', async (_, writes) => {
    const base = await now();
    await run(writes);
    await expectEachTheirs(base);
  });
});

describe('parameters of a composite type and of an array', () => {
  beforeAll(() =>
    setUp(
      pairs,
      `create type pair as (size int, name text);
       create table todo (id int primary key, pair pair, marks text[]);
       insert into todo values (1, '(3,ada)', '{ada}'), (2, '(3,ada)', '{ada}'), (3, '(3,bob)', '{bob}')`,
    ),
  );
  afterAll(() => database.drop());

  it('come to each seat whole', async () => {
    const base = await now();
    await run(`insert into todo select id + 10, pair, marks from todo; delete from todo where id = 2`);
    await expectEachTheirs(base);
  });
});
