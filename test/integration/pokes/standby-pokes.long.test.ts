/** The tail on a hot standby, behind a long transaction of the primary. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { CurrentInstallation } from '../../../src/installation/current-installation.js';
import { migrate } from '../../../src/migrate.js';
import { Tail } from '../../../src/pokes/tail.js';
import { prune } from '../../../src/store/retention.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { Looks } from '../../../src/window/looks.js';
import { memoryLog, silent } from '../../support/log.js';
import { type Replication, startReplication } from '../../support/replication.js';
import type { Context } from '../../support/synced.js';
import { announced, ddl, views } from './tailed.js';

let replication: Replication;
let writer: pg.Client;
let slow: pg.Client;
let onPrimary: Database;
let db: Database;
let tail: Tail<Context>;
let looks = 0;
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
    if (name === 'tidemark_news') looks++;
  });
  const installation = new CurrentInstallation(db, new ClientViews(db, views));
  tail = new Tail({
    db,
    installation,
    looks: new Looks(db, installation, 100_000),
    log,
    intervalMs: () => 10,
    notify: false,
    onDisconnect() {},
  });
  await slow.query('begin; select pg_current_xact_id()');
}, 200_000);

afterAll(async () => {
  tail.close();
  await db.close();
  await onPrimary.close();
  await writer.end();
  await slow.end();
  await replication.stop();
});

let poke: ReturnType<typeof vi.fn<() => void>>;

beforeEach(async () => {
  poke = vi.fn<() => void>();
  await tail.listen({ userID: 'ann' }, { clientGroupID: 'g', profileID: 'p', schemaVersion: '' }, poke);
});

async function someLooks(): Promise<void> {
  const before = looks;
  await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 5), 10_000);
}

const insert = (owner: string) => writer.query('insert into item (owner_id) values ($1)', [owner]);

it('tells of each change once', async () => {
  for (let i = 1; i <= 3; i++) {
    await insert('ann');
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(i), 10_000);
    await insert('ben');
    await replication.caughtUp();
    await someLooks();
    expect(poke).toHaveBeenCalledTimes(i);
  }
});

it('tells later what it could not read, for there was too much of it', async () => {
  await writer.query(`insert into item (owner_id) select 'ben' from generate_series(1, 100000)`);
  await vi.waitFor(() => expect(JSON.stringify(lines)).toContain('The change log could not be read'), 10_000);
  await insert('ann');
  await replication.caughtUp();
  await someLooks();
  expect(poke).not.toHaveBeenCalled();
  await prune(onPrimary, 3600);
  await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(1), 10_000);
  await someLooks();
  expect(poke).toHaveBeenCalledTimes(1);
});
