/** Counts work: the cost of a query for affected cohorts grows with the changes, and not with their square. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { type AffectedInput, findAffectedCohorts } from '../../../packages/tidemark/src/store/affected-cohorts.js';
import { changedTablesOf } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import { readNewChanges } from '../../../packages/tidemark/src/store/polls/new-changes.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';
import { countWork } from './plan-reads.js';

const rows = 1_000;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSchema(database.pool);
  await migrate({ database: database.url, views, log: silent });
  await database.pool.query(`
    insert into list (id, owner_id, name) values ('mine', 'ann', ''), ('other', 'zed', '');
    insert into todo (id, list_id, title, sort) select n, 'mine', '', n from generate_series(1, ${3 * rows}) n;
    insert into todo (id, list_id, title, sort) select 'o' || n, 'other', '', n from generate_series(1, ${3 * rows}) n;
    analyze list, todo, share`);
  db = openPool(database.url, { max: 2 });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

/** The work of finding users who see the todos that a transaction changed, and the number of cohorts found. */
async function findAffected(mode: AffectedInput['mode'], cohortCount: number, change: string) {
  const schemaCache = new SchemaCache(db, new ClientViews(db, views));
  const users = ['ann', ...Array.from({ length: cohortCount - 1 }, (_, i) => `user ${i}`)];
  const resolved = await Promise.all(
    users.map((userID) => schemaCache.resolve({ ctx: { userID }, profileID: '', schemaVersion: '' })),
  );
  const { tables } = resolved[0]!.schema;
  const todos = resolved.map((one) => one.views.find(({ view }) => view.name === 'todo')!);
  const ids = tables.map(({ id }) => id);
  const base = (await readNewChanges(db, undefined, ids)).snapshot;
  await database.pool.query(change);
  const batch = await readNewChanges(db, base, ids);
  const changes = changedTablesOf(tables, new Map(batch.changes.map((one) => [one.table, one.rows])));
  let work = 0;
  const query: Database['query'] = async (statement) => {
    work = await countWork(database.pool, statement);
    return db.query(statement);
  };
  const question = { view: todos[0]!.view, mode, cohorts: todos, timeoutMs: 20_000 };
  const found = await findAffectedCohorts({ query }, question, changes, base);
  return { work, found: found.length };
}

const update = (list: string, count: number) =>
  `update todo set title = title || '!' where list_id = '${list}' and sort <= ${count}`;

it.each([
  ['net', 'mine', 1],
  ['net', 'other', 0],
  ['anyVersion', 'mine', 1],
  ['anyVersion', 'other', 0],
] as const)('the work in mode %s for changes in the list "%s" grows with their number', async (mode, list, found) => {
  const few = await findAffected(mode, 1, update(list, rows));
  const many = await findAffected(mode, 1, update(list, 3 * rows));
  expect([few.found, many.found]).toEqual([found, found]);
  expect(many.work / few.work).toBeLessThan(4);
});

it('subscribers who see no changed row cost little more than the changed rows', async () => {
  const one = await findAffected('net', 1, update('mine', 10));
  const many = await findAffected('net', 200, update('mine', 10));
  expect([one.found, many.found]).toEqual([1, 1]);
  expect(many.work - one.work).toBeLessThan(200 * 10 * 20);
});
