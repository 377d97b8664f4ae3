/** In generated views, the values of undeciding columns do not affect the keys. */
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { migrateSchema } from '../../../packages/tidemark/src/schema/migrate.js';
import { identifier } from '../../../packages/tidemark/src/sql.js';
import { rowsOf } from '../../../packages/tidemark/src/store/patches/view-rows.js';
import { ClientViews, type ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
import { cases } from './case.js';
import { Databases, postgresVersion } from './database.js';
import { toViews } from './serving.js';
import { textOf } from './tree.js';
import { userAt } from './users.js';
import { type FuzzView, textOfView } from './view.js';

const seed = 1;
const caseCount = 6;

let databases: Databases;
let version: number;

beforeAll(async () => {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  databases = new Databases(cluster);
  version = await postgresVersion(cluster);
});
afterAll(() => databases.close());

it(`only deciding columns affect the keys of generated views (seed ${seed})`, async () => {
  const counts = { views: 0, columns: 0, values: 0 };
  for (const { setup, rows, views } of fc.sample(cases({ version, views: 12 }), { seed, numRuns: caseCount })) {
    const database = await databases.take();
    const db = openPool(database.url, { max: 2 });
    database.onClose(() => db.close());
    await migrateSchema(db, { notify: false, progress: () => {} });
    const client = await database.connect();
    // Disables foreign keys.
    await client.query('set session_replication_role = replica');
    for (const statement of [...setup.items, ...rows.items]) await client.query(textOf(statement)).catch(() => {});
    for (const view of views) {
      const resolved = await resolveView(db, view);
      const keys = resolved && (await keysOf(client, resolved));
      if (!keys || keys.length === 0) continue;
      counts.views++;
      for (const [column, changes] of await undecidingColumns(client, resolved)) {
        counts.columns++;
        for (const change of changes) {
          await client.query('begin');
          const changed = await client.query(change).catch(() => undefined);
          const after = changed?.rowCount ? await keysOf(client, resolved) : undefined;
          await client.query('rollback');
          if (!after) continue;
          counts.values++;
          expect(after, `${column} decides keys of\n${textOfView(view).text}`).toEqual(keys);
        }
      }
    }
    await databases.give(database);
  }
  console.info(JSON.stringify({ seed, ...counts }));
  expect(counts.views).toBeGreaterThan(15);
  expect(counts.values).toBeGreaterThan(40);
}, 600_000);

/** Undefined if the view is refused. */
async function resolveView(db: Database, view: FuzzView): Promise<ResolvedView | undefined> {
  const input = { ctx: { userID: userAt(0) }, profileID: '', schemaVersion: '' };
  try {
    return (await new ClientViews(db, toViews([view], false)).resolve(input, ''))[0];
  } catch (error) {
    if (error instanceof SetupError || (error as { code?: string }).code) return undefined;
    throw error;
  }
}

/** Undefined if the query fails. */
async function keysOf(client: Client, { view, literals }: ResolvedView): Promise<string[] | undefined> {
  try {
    const text = `select tidemark_key as key from (${rowsOf(view, view.now, literals)}) r order by tidemark_key collate "C"`;
    return (await client.query<{ key: string }>(text)).rows.map(({ key }) => key);
  } catch {
    return undefined;
  }
}

/** The columns reported as undeciding, with statements that change them. Generated columns may depend on them. */
async function undecidingColumns(client: Client, { view, tables }: ResolvedView): Promise<[string, string[]][]> {
  const found: [string, string[]][] = [];
  for (const [oid, deciding] of view.decides) {
    const { schema, name, primaryKey } = tables.find((table) => table.oid === oid)!;
    const { rows } = await client.query<{ name: string; attnum: number; generated: boolean }>(
      `select attname as name, attnum, attgenerated <> '' as generated from pg_attribute
      where attrelid = $1 and attnum > 0 and not attisdropped`,
      [oid],
    );
    if (deciding.includes(0) || rows.some(({ generated }) => generated)) continue;
    const decides = new Set([...deciding, ...primaryKey.map(({ attnum }) => attnum)]);
    const relation = identifier(schema, name);
    for (const column of rows.filter(({ attnum }) => !decides.has(attnum))) {
      const set = `update ${relation} set ${identifier(column.name)} =`;
      const other = `select o.${identifier(column.name)} from ${relation} o order by md5(o::text || '${seed}') limit 1`;
      found.push([`${relation}.${column.name}`, [`${set} (${other})`, `${set} null`]]);
    }
  }
  return found;
}
