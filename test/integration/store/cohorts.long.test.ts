/** A statement for many cohorts yields for each of them what a statement of its own yields. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { parseSnapshot, type Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { findAffectedCohorts } from '../../../packages/tidemark/src/store/affected-cohorts.js';
import {
  type CohortLine,
  cohortParametersOf,
  cohortSql,
  cohortValues,
} from '../../../packages/tidemark/src/store/patches/cohorts.js';
import { changedTablesOf } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import { ClientViews, type ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, installationOf } from '../../support/synced.js';

/** Postgres reads memberships into a hash table, because they are not the only reason why a list is visible. */
const memberships: Views<Context> = {
  todos: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select * from todo where list_id in (
      select id from list where owner_id = ${ctx.userID} or id in (select list_id from share where user_id = ${ctx.userID}))`,
  }),
};

/** Unusual parameters: one of a composite type, and an array that another parameter follows. */
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

/** The changes since a snapshot, and the resolved views of each user. */
async function read(base: Snapshot) {
  const schema = await installationOf(database.pool, views);
  const clientViews = new ClientViews(db, views);
  const resolved = await Promise.all(
    users.map((userID) => clientViews.resolve({ ctx: { userID }, profileID: '', schemaVersion: '' }, '')),
  );
  const changes = changedTablesOf(schema.tables, new Map(schema.tables.map(({ id }) => [id, 9])));
  return { base, schema, changes, resolved };
}

type Reading = Awaited<ReturnType<typeof read>>;

/** The ops for some users, from a single statement. */
async function opsFor(indexes: readonly number[], { base, schema, changes, resolved }: Reading): Promise<string[][]> {
  const isShared = indexes.length > 1;
  const compiled = resolved[0]!.map(({ view }) => view);
  const input = { base, tables: schema.tableIDs, groupIDs: [] };
  const cohorts = indexes.map((index) => cohortParametersOf(resolved[index]!));
  const values = cohortValues(input, schema.tables, cohorts, isShared);
  const { rows } = await database.pool.query<CohortLine>({ text: cohortSql(compiled, changes, isShared), values });
  const [, ...ops] = rows;
  return indexes.map((_, i) =>
    ops.flatMap(({ cohort, line }) => (cohort === (isShared ? i : null) ? line! : [])).sort(),
  );
}

/** The users among these whose view has changed, from a single statement. */
async function affected(indexes: readonly number[], { base, changes, resolved }: Reading): Promise<number[]> {
  const [{ view }] = resolved[0] as [ResolvedView];
  const cohorts = indexes.map((index) => resolved[index]![0]!);
  const found = await findAffectedCohorts(db, { view, cohorts, mode: 'net', timeoutMs: 10_000 }, changes, base);
  return found.map((cohort) => indexes[cohort]!).sort();
}

async function expectSameAsAlone(base: Snapshot): Promise<void> {
  const reading = await read(base);
  const indexes = [...users.keys()];
  const alone: string[][] = [];
  const changed: number[] = [];
  for (const index of indexes) {
    alone.push(...(await opsFor([index], reading)));
    changed.push(...(await affected([index], reading)));
  }
  expect(alone.some((ops) => ops.length > 0)).toBe(true);
  expect(alone).toContainEqual([]);
  expect(changed).toEqual(indexes.filter((index) => alone[index]!.length > 0));
  expect(await opsFor(indexes, reading)).toEqual(alone);
  expect(await affected(indexes, reading)).toEqual(changed);
}

describe.each([
  ['a table', ''],
  ['a partitioned table', 'partition by hash (id)'],
])('a statement with subqueries over %s that depend on the user', (_, partitioning) => {
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
    ['rows are deleted', 'delete from list where id = 1; delete from todo where id < 4'],
    [
      'a row moves and another list is deleted',
      'delete from todo where id = 2; update todo set list_id = 1 where id = 3; delete from list where id = 2',
    ],
    [
      'rows are inserted',
      'insert into todo select 10 + n, n from generate_series(1, 9) n; update list set owner_id = owner_id',
    ],
    [
      'rows move to other lists',
      `update todo set list_id = 10 - list_id; update list set owner_id = 'cleo' where id = 9`,
    ],
    [
      'memberships are added and removed',
      `update share set user_id = 'eve' where list_id = 3 and user_id = 'bob'; insert into share values (6, 'cleo')`,
    ],
    [
      'lists are inserted and deleted',
      `delete from list where id < 3; insert into list values (10, 'ada'); update todo set list_id = 10 where id > 4`,
    ],
  ])('yields the same for many cohorts as for each alone when %s', async (_, writes) => {
    const base = await now();
    await run(writes);
    await expectSameAsAlone(base);
  });
});

describe('a statement with parameters of a composite type and of an array', () => {
  beforeAll(() =>
    setUp(
      pairs,
      `create type pair as (size int, name text);
       create table todo (id int primary key, pair pair, marks text[]);
       insert into todo values (1, '(3,ada)', '{ada}'), (2, '(3,ada)', '{ada}'), (3, '(3,bob)', '{bob}')`,
    ),
  );
  afterAll(() => database.drop());

  it('yields the same for many cohorts as for each alone', async () => {
    const base = await now();
    await run(`insert into todo select id + 10, pair, marks from todo; delete from todo where id = 2`);
    await expectSameAsAlone(base);
  });
});
