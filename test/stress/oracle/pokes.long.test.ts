/** Compares the affected users that the poke notifier finds with what every user's views hold before and after. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import type { Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { type AffectedInput, findAffectedCohorts } from '../../../packages/tidemark/src/store/affected-cohorts.js';
import { changedTablesOf } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import { rowsOf } from '../../../packages/tidemark/src/store/patches/view-rows.js';
import { type NewChanges, readNewChanges } from '../../../packages/tidemark/src/store/polls/new-changes.js';
import type { ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
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
const cohorts: ResolvedView[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(schemaSql);
  const views = toViews(viewSpecs);
  await migrate({ database: database.url, views, log: silent });
  db = openPool(database.url, { max: 2 });
  const schemaCache = new SchemaCache<User>(db, new ClientViews(db, views));
  for (const userID of users) {
    const resolved = await schemaCache.resolve({ ctx: { userID }, profileID: '', schemaVersion: '' });
    tables = resolved.schema.tables;
    cohorts.push(...resolved.views);
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

/** The rows of each view of each user, as one text. */
async function holdings(): Promise<string[]> {
  const digests = cohorts.map(
    ({ view, literals }, i) =>
      `select ${i} as cohort, md5(coalesce(string_agg(tidemark_key || tidemark_value, ',' order by tidemark_key collate "C"), '')) as digest
       from (${rowsOf(view, view.now, literals)}) r`,
  );
  const rows = await db.query<{ digest: string }>({ text: `${digests.join(' union all ')} order by cohort` });
  return rows.map(({ digest }) => digest);
}

async function poll(base?: Snapshot): Promise<NewChanges> {
  return readNewChanges(
    db,
    base,
    tables.map(({ id }) => id),
  );
}

/** The indexes of the affected views and users, without those whose tables have not changed. */
async function affected(batch: NewChanges, base: Snapshot, mode: AffectedInput['mode']): Promise<Set<number>> {
  const changes = changedTablesOf(tables, new Map(batch.changes.map(({ table, rows }) => [table, rows])));
  const found = new Set<number>();
  for (const view of new Set(cohorts.map((cohort) => cohort.view))) {
    const ownChanges = changes.filter(({ table }) => view.occurrenceTables.includes(table.oid));
    if (ownChanges.length === 0 || (mode === 'net' && !view.cohortView)) continue;
    const candidates = cohorts.flatMap((cohort, i) => (cohort.view === view ? [{ i, cohort }] : []));
    const question = { view, mode, cohorts: candidates.map(({ cohort }) => cohort), timeoutMs: 10_000 };
    for (const index of await findAffectedCohorts(db, question, ownChanges, base)) found.add(candidates[index]!.i);
  }
  return found;
}

const name = (cohort: number) =>
  `${cohorts[cohort]!.view.name} of ${users[Math.floor((cohort * users.length) / cohorts.length)]}`;

it('the query for affected cohorts finds exactly those whose view a transaction has changed', async () => {
  let changes = 0;
  for (let i = 0; i < 100; i++) {
    const base = (await poll()).snapshot;
    const before = await holdings();
    await randomly();
    const batch = await poll(base);
    if (batch.changes.some(({ truncated }) => truncated)) continue;
    const after = await holdings();
    const expected = cohorts.flatMap(({ view }, cohort) =>
      before[cohort] === after[cohort] || !view.cohortView ? [] : [name(cohort)],
    );
    expect([...(await affected(batch, base, 'net'))].map(name).sort()).toEqual(expected.sort());
    changes += expected.length;
  }
  expect(changes).toBeGreaterThan(200);
}, 400_000);

const randomly = () => runTransaction(writer, random, counts);
/** Each restores everything if it runs twice. */
const toggles = [
  'update todo set done = not done',
  `update list set owner_id = case owner_id when 'ann' then 'bob' when 'bob' then 'ann' else owner_id end`,
  `update share set role = case role when 'read' then 'write' when 'write' then 'read' end`,
  'update task set v = reverse(v), key = reverse(key)',
].map((statement) => () => writer.query(statement));

it('the query for affected cohorts finds all whose view differed between several transactions', async () => {
  let missedByNet = 0;
  for (let i = 0; i < 30; i++) {
    const base = (await poll()).snapshot;
    const states = [await holdings()];
    const toggle = random.pick(toggles);
    for (const transact of [toggle, ...Array.from({ length: random.between(0, 2) }, () => randomly), toggle]) {
      await transact();
      states.push(await holdings());
    }
    const batch = await poll(base);
    if (batch.changes.some(({ truncated }) => truncated)) continue;
    const ever = await affected(batch, base, 'anyVersion');
    const net = await affected(batch, base, 'net');
    for (const cohort of cohorts.keys()) {
      if (states.every((state) => state[cohort] === states[0]![cohort])) continue;
      expect(ever.has(cohort), `${name(cohort)}, round ${i}`).toBe(true);
      if (!net.has(cohort)) missedByNet++;
    }
  }
  // This mode exists for changes that a comparison of the two ends misses.
  expect(missedByNet).toBeGreaterThan(0);
}, 400_000);
