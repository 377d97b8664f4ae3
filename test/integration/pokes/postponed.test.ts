/** Subscribers that move to another cohort while a postponed statement is running. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { PostponedViews } from '../../../packages/tidemark/src/pokes/postponed-views.js';
import { type Subscriber, SubscriptionIndex } from '../../../packages/tidemark/src/pokes/subscription-index.js';
import { SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { readNewChanges } from '../../../packages/tidemark/src/store/polls/new-changes.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import type { TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { announced, ddl, isAffectedQuery, views } from './notifying.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createSynced(ddl, views);
});

afterAll(() => database.drop());

it.each<[string, (statement: Statement) => boolean]>([
  ['before the changes are read', ({ name }) => name === 'tidemark_poll'],
  ['before the query for affected cohorts', isAffectedQuery],
])('a subscriber that moves to another cohort %s is still poked', async (_, isMeant) => {
  let onMeant = () => {};
  const pool = openPool(database.url, { max: 2 });
  const db = announced(pool, async (statement) => {
    if (isMeant(statement)) onMeant();
  });
  const schemaCache = new SchemaCache(db, new ClientViews(db, views));
  const resolved = await schemaCache.resolve({ ctx: { userID: 'ann' }, profileID: '', schemaVersion: '' });
  const subscription = { views: resolved.views, tables: resolved.schema.tables, schemaHash: '' };
  const subscriptions = new SubscriptionIndex();
  const subscriber: Subscriber = {
    clientGroupID: '',
    userID: 'ann',
    subscription,
    resolvedSchemaHash: '',
    resolveViews: async () => subscription,
    poke: vi.fn(),
  };
  subscriptions.add(subscriber);
  const since = (await readNewChanges(db, undefined, [])).snapshot;
  await database.pool.query(`insert into item (owner_id) values ('ann')`);

  onMeant = () => subscriptions.update(subscriber, { ...subscription, views: [] });
  const { log, lines } = memoryLog();
  const postponed = new PostponedViews({ db, subscriptions, log });
  postponed.add(resolved.views.find(({ view }) => view.name === 'item')!.view, since, [subscriber]);
  await vi.waitFor(() => expect(subscriber.poke).toHaveBeenCalledOnce(), { timeout: 5_000 });
  expect(subscriber.subscription.views).toEqual([]);
  expect(lines).toEqual([]);
  await pool.close();
});
