/** Where a tail cannot tell exactly whom a change concerns, it pokes all whom it may concern, and goes on. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Database, Statement } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import { CurrentInstallation } from '../../src/sync/current-installation.js';
import { Tail } from '../../src/sync/tail.js';
import { ClientViews } from '../../src/view/client-views.js';
import type { TestDatabase } from '../database.js';
import { memoryLog } from '../log.js';
import { type Context, createSynced } from '../synced.js';
import { announced, ddl, views } from './tailed.js';

let database: TestDatabase;
let db: Database;
let tail: Tail<Context>;
let refuse: (statement: Statement) => boolean;
const { log, lines } = memoryLog();

beforeAll(async () => {
  database = await createSynced(ddl, views);
  db = announced(openPool(database.url), async (statement) => {
    if (refuse(statement)) throw new Error('refused');
  });
});

beforeEach(() => {
  refuse = () => false;
  lines.length = 0;
  const installation = new CurrentInstallation(db, new ClientViews(db, views));
  tail = new Tail({ database: db, installation, log, intervalMs: 20, notify: false });
});

afterEach(() => tail.close());

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function listen(userID: string) {
  const poke = vi.fn();
  await tail.listen({ userID }, { clientGroupID: userID, profileID: 'p', schemaVersion: '' }, poke);
  return poke;
}

const insert = (owner: string) => database.pool.query('insert into item (owner_id) values ($1)', [owner]);

async function expectExact(concerned: ReturnType<typeof vi.fn>, other: ReturnType<typeof vi.fn>): Promise<void> {
  concerned.mockClear();
  other.mockClear();
  await insert('ann');
  await vi.waitFor(() => expect(concerned).toHaveBeenCalledOnce());
  expect(other).not.toHaveBeenCalled();
}

test('after a change of a table all who see it are poked, and then again exactly those concerned', async () => {
  const [ann, ben] = [await listen('ann'), await listen('ben')];
  await expectExact(ann, ben);
  await database.pool.query('alter table item add column extra text');
  await insert('ann');
  await vi.waitFor(() => expect(ben).toHaveBeenCalled());
  // The shape is looked at once a second.
  await vi.waitFor(() => expectExact(ann, ben), { timeout: 10_000, interval: 200 });
  await expectExact(ann, ben);
});

test('a TRUNCATE pokes all who see the table, and nobody else', async () => {
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  await database.pool.query('truncate audit');
  await vi.waitFor(() => expect(auditor).toHaveBeenCalled());
  for (const poke of [ann, ben]) expect(poke).not.toHaveBeenCalled();
});

test('a question that fails pokes all who were asked about', async () => {
  const [ann, ben, auditor] = [await listen('ann'), await listen('ben'), await listen('auditor')];
  refuse = ({ text }) => text.includes('tidemark_seats_0');
  await insert('ann');
  await vi.waitFor(() => expect(ben).toHaveBeenCalledOnce());
  expect(ann).toHaveBeenCalledOnce();
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: 'Whom a change concerns is not known; all are poked',
      fields: { error: { message: 'refused' } },
    },
  ]);
  refuse = () => false;
  await expectExact(ann, ben);
  expect(auditor.mock.calls.length).toBeLessThanOrEqual(1);
});
