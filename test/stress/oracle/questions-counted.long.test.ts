/** Counted work: to ask whom changes concern costs what has changed, and not its square. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { views } from '../../../examples/tasks/src/views.js';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { CurrentInstallation } from '../../../src/installation/current-installation.js';
import { migrate } from '../../../src/migrate.js';
import { findAffected, type Question } from '../../../src/store/affected.js';
import { changesOf } from '../../../src/store/patches/patch-sql.js';
import { readTail } from '../../../src/store/tail.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
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

/** What it takes to ask who sees the todos that a transaction has changed, and how many seats are found. */
async function ask(mode: Question['mode'], seats: number, change: string) {
  const installation = new CurrentInstallation(db, new ClientViews(db, views));
  const users = ['ann', ...Array.from({ length: seats - 1 }, (_, i) => `user ${i}`)];
  const bound = await Promise.all(
    users.map((userID) => installation.bind({ ctx: { userID }, profileID: '', schemaVersion: '' })),
  );
  const { tables } = bound[0]!.installation;
  const todos = bound.map((one) => one.views.find(({ view }) => view.name === 'todo')!);
  const ids = tables.map(({ id }) => id);
  const base = (await readTail(db, undefined, ids)).snapshot;
  await database.pool.query(change);
  const batch = await readTail(db, base, ids);
  const changes = changesOf(tables, new Map(batch.changes.map((one) => [one.table, one.rows])));
  let work = 0;
  const query: Database['query'] = async (statement) => {
    work = await countWork(database.pool, statement);
    return db.query(statement);
  };
  const question = { view: todos[0]!.view, mode, seats: todos, timeoutMs: 20_000 };
  const found = await findAffected({ query }, question, changes, base);
  return { work, found: found.length };
}

const update = (list: string, count: number) =>
  `update todo set title = title || '!' where list_id = '${list}' and sort <= ${count}`;

it.each([
  ['net', 'mine', 1],
  ['net', 'other', 0],
  ['ever', 'mine', 1],
  ['ever', 'other', 0],
] as const)('%s, of the list "%s"', async (mode, list, found) => {
  const few = await ask(mode, 1, update(list, rows));
  const many = await ask(mode, 1, update(list, 3 * rows));
  expect([few.found, many.found]).toEqual([found, found]);
  expect(many.work / few.work).toBeLessThan(4);
});

it('of many who listen, those who see no changed row cost little more than the changed rows', async () => {
  const one = await ask('net', 1, update('mine', 10));
  const many = await ask('net', 200, update('mine', 10));
  expect([one.found, many.found]).toEqual([1, 1]);
  expect(many.work - one.work).toBeLessThan(200 * 10 * 20);
});
