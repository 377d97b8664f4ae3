/** The poke notifier on a hot standby, behind a long transaction of the primary. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ChangeLogPoller } from '../../../packages/tidemark/src/change-log/change-log-poller.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { OpenSubscriptions } from '../../../packages/tidemark/src/pokes/open-subscriptions.js';
import { PokeNotifier } from '../../../packages/tidemark/src/pokes/poke-notifier.js';
import { SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { memoryLog, silent } from '../../support/log.js';
import { type Replication, startReplication } from '../../support/replication.js';
import type { Context } from '../../support/synced.js';
import { announced, ddl, views } from './notifying.js';

let replication: Replication;
let writer: pg.Client;
let slow: pg.Client;
let onPrimary: Database;
let db: Database;
let notifier: PokeNotifier<Context>;
let polls = 0;
const { log, lines } = memoryLog();

beforeAll(async () => {
  replication = await startReplication({ delays: [0], waitsFor: '' });
  writer = new pg.Client(replication.primaryURL);
  slow = new pg.Client(replication.primaryURL);
  await writer.connect();
  await slow.connect();
  await writer.query(ddl);
  await migrate({ database: replication.primaryURL, views, log: silent });
  await replication.caughtUp();
  onPrimary = openPool(replication.primaryURL, { max: 1 });
  db = announced(openPool(replication.standbys[0]!.url), async ({ name }) => {
    if (name === 'tidemark_poll_if_changed') polls++;
  });
  const schemaCache = new SchemaCache(db, new ClientViews(db, views));
  notifier = new PokeNotifier({
    db,
    schemaCache,
    poller: new ChangeLogPoller(db, schemaCache, 100_000),
    log,
    intervalMs: 10,
    notify: false,
    openSubscriptions: new OpenSubscriptions(),
  });
  await slow.query('begin; select pg_current_xact_id()');
}, 200_000);

afterAll(async () => {
  notifier.close();
  await db.close();
  await onPrimary.close();
  await writer.end();
  await slow.end();
  await replication.stop();
});

let poke: ReturnType<typeof vi.fn<() => void>>;

beforeEach(async () => {
  poke = vi.fn<() => void>();
  await notifier.subscribe({ userID: 'ann' }, { clientGroupID: 'g', profileID: 'p', schemaVersion: '' }, poke);
});

async function severalPolls(): Promise<void> {
  const before = polls;
  await vi.waitFor(() => expect(polls).toBeGreaterThan(before + 5), 10_000);
}

const insert = (owner: string) => writer.query('insert into item (owner_id) values ($1)', [owner]);

it('a notifier on a standby pokes once for each change', async () => {
  for (let i = 1; i <= 3; i++) {
    await insert('ann');
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(i), 10_000);
    await insert('ben');
    await replication.caughtUp();
    await severalPolls();
    expect(poke).toHaveBeenCalledTimes(i);
  }
});

it('a notifier on a standby pokes later for changes that were too many to read', async () => {
  await writer.query(`insert into item (owner_id) select 'ben' from generate_series(1, 100000)`);
  await vi.waitFor(() => expect(JSON.stringify(lines)).toContain('The change log could not be read'), 10_000);
  await insert('ann');
  await replication.caughtUp();
  await severalPolls();
  expect(poke).not.toHaveBeenCalled();
  await prune(onPrimary, 3600);
  await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(1), 10_000);
  await severalPolls();
  expect(poke).toHaveBeenCalledTimes(1);
});
