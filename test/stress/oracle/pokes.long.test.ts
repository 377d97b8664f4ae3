/** Whom the tail finds affected, held against what every user's views really hold before and after. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { CurrentInstallation } from '../../../src/installation/current-installation.js';
import { migrate } from '../../../src/migrate.js';
import type { Snapshot } from '../../../src/protocol/snapshot.js';
import { findAffected, type Question } from '../../../src/store/affected.js';
import { changesOf } from '../../../src/store/patches/patch-sql.js';
import { rowsOf } from '../../../src/store/patches/sides.js';
import type { SyncedTable } from '../../../src/store/patches/states.js';
import { readTail, type TailBatch } from '../../../src/store/tail.js';
import type { BoundView } from '../../../src/view/client-views.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { Random } from './random.js';
import { schemaSql, users } from './schema.js';
import { toViews, type User, viewSpecs } from './views.js';
import { runTransaction } from './workload.js';

const random = new Random(11);
const counts = { committed: 0, rolledBack: 0, failed: 0, truncated: 0 };

let database: TestDatabase;
let db: Database;
let writer: Client;
let tables: readonly SyncedTable[];
/** Every view of every user. */
const seats: BoundView[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(schemaSql);
  const views = toViews(viewSpecs);
  await migrate({ database: database.url, views, log: silent });
  db = openPool(database.url, { max: 2 });
  const installation = new CurrentInstallation<User>(db, new ClientViews(db, views));
  for (const userID of users) {
    const bound = await installation.bind({ ctx: { userID }, profileID: '', schemaVersion: '' });
    tables = bound.installation.tables;
    seats.push(...bound.views);
  }
  writer = new Client({ connectionString: database.url });
  await writer.connect();
  for (let i = 0; i < 150; i++) await runTransaction(writer, random, counts);
}, 200_000);

afterAll(async () => {
  await writer.end();
  await db.close();
  await database.drop();
});

/** What each seat's view holds, as one text. */
async function holdings(): Promise<string[]> {
  const digests = seats.map(
    ({ view, literals }, i) =>
      `select ${i} as seat, md5(coalesce(string_agg(tidemark_key || tidemark_value, ',' order by tidemark_key collate "C"), '')) as digest
       from (${rowsOf(view, view.now, literals)}) r`,
  );
  const rows = await db.query<{ digest: string }>({ text: `${digests.join(' union all ')} order by seat` });
  return rows.map(({ digest }) => digest);
}

async function look(base?: Snapshot): Promise<TailBatch> {
  return readTail(
    db,
    base,
    tables.map(({ id }) => id),
  );
}

/** The seats that are found affected, those left out whose tables have not changed. */
async function affected(batch: TailBatch, base: Snapshot, mode: Question['mode']): Promise<Set<number>> {
  const changes = changesOf(tables, new Map(batch.changes.map(({ table, rows }) => [table, rows])));
  const found = new Set<number>();
  for (const view of new Set(seats.map((seat) => seat.view))) {
    const own = changes.filter(({ table }) => view.occurrenceTables.includes(table.oid));
    if (own.length === 0 || (mode === 'net' && !view.seated)) continue;
    const asked = seats.flatMap((seat, i) => (seat.view === view ? [{ i, seat }] : []));
    const question = { view, mode, seats: asked.map(({ seat }) => seat), timeoutMs: 10_000 };
    for (const place of await findAffected(db, question, own, base)) found.add(asked[place]!.i);
  }
  return found;
}

const name = (seat: number) =>
  `${seats[seat]!.view.name} of ${users[Math.floor((seat * users.length) / seats.length)]}`;

it('finds exactly those whose view one transaction has changed', async () => {
  let changes = 0;
  for (let i = 0; i < 100; i++) {
    const base = (await look()).snapshot;
    const before = await holdings();
    await randomly();
    const batch = await look(base);
    if (batch.changes.some(({ truncated }) => truncated)) continue;
    const after = await holdings();
    const expected = seats.flatMap(({ view }, seat) =>
      before[seat] === after[seat] || !view.seated ? [] : [name(seat)],
    );
    expect([...(await affected(batch, base, 'net'))].map(name).sort()).toEqual(expected.sort());
    changes += expected.length;
  }
  expect(changes).toBeGreaterThan(200);
}, 400_000);

const randomly = () => runTransaction(writer, random, counts);
/** Done twice, each leaves everything as it was. */
const toggles = [
  'update todo set done = not done',
  `update list set owner_id = case owner_id when 'ann' then 'bob' when 'bob' then 'ann' else owner_id end`,
  `update share set role = case role when 'read' then 'write' when 'write' then 'read' end`,
  'update task set v = reverse(v), key = reverse(key)',
].map((statement) => () => writer.query(statement));

it('finds all whose view was another one at any moment between several transactions', async () => {
  let missedByNet = 0;
  for (let i = 0; i < 30; i++) {
    const base = (await look()).snapshot;
    const moments = [await holdings()];
    const toggle = random.pick(toggles);
    for (const transact of [toggle, ...Array.from({ length: random.between(0, 2) }, () => randomly), toggle]) {
      await transact();
      moments.push(await holdings());
    }
    const batch = await look(base);
    if (batch.changes.some(({ truncated }) => truncated)) continue;
    const ever = await affected(batch, base, 'ever');
    const net = await affected(batch, base, 'net');
    for (const seat of seats.keys()) {
      if (moments.every((moment) => moment[seat] === moments[0]![seat])) continue;
      expect(ever.has(seat), `${name(seat)}, round ${i}`).toBe(true);
      if (!net.has(seat)) missedByNet++;
    }
  }
  // What the difference of the ends does not show is what this mode is for.
  expect(missedByNet).toBeGreaterThan(0);
}, 400_000);
