/** Runs writes on a captured table, and compares the change log with the previous rows. */
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { parseSnapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { identifier } from '../../../packages/tidemark/src/sql.js';
import { unseenLiterals } from '../../../packages/tidemark/src/store/patches/logged-rows.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import { stateQueries, states } from '../../../packages/tidemark/src/store/patches/states.js';
import { createEmptyDatabase, createPool, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { installationOf, wholeTable } from '../../support/synced.js';

export interface CaptureInput {
  /** Statements that create the table `t`, or the one named, and its rows. */
  readonly ddl: string;
  readonly table?: string;
  readonly key?: readonly string[];
  /** Run one by one in a single transaction. */
  readonly write: readonly string[];
  /** Settings of the writer's session, applied before the writes. */
  readonly session?: string;
}

export interface CaptureResult {
  /** One text per log row: `-key` with an image, `+key` for a row that did not exist, `truncate`. */
  readonly log: readonly string[];
  /** True if each key's first image equals, byte for byte, the row that had the key before. */
  readonly exact: boolean;
  /** True if every log row has the writer's top-level transaction ID. */
  readonly ownXid: boolean;
  /** The table at the snapshot before the writes, as rebuilt from the log and as it really was. */
  readonly rebuilt: readonly string[];
  readonly before: readonly string[];
}

export interface Capture {
  readonly database: TestDatabase;
  /** Creates a schema with the table, captures it, writes, and reads the log. */
  capture(input: CaptureInput): Promise<CaptureResult>;
}

/** A database for the tests of a file, with two sessions that all of them use. */
export function useCapture(setup: string): Capture {
  let database: TestDatabase;
  let pool: pg.Pool;
  let writer: pg.Client;
  let schemas = 0;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(setup);
    pool = createPool(database.url, 1);
    writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
  });
  afterAll(async () => {
    await writer.end();
    await pool.end();
    await database.drop();
  });
  return {
    get database() {
      return database;
    },
    async capture(input) {
      const schema = `case_${++schemas}`;
      // Cleans up after the previous test.
      await writer.query('rollback');
      await writer.query('discard all');
      await writer.query(`create schema ${schema}`);
      for (const session of [pool, writer]) await session.query(`set search_path to ${schema}, public`);
      return captureWith(pool, writer, input);
    },
  };
}

async function captureWith(pool: pg.Pool, writer: pg.Client, input: CaptureInput): Promise<CaptureResult> {
  const name = input.table ?? 't';
  const views = wholeTable(name, input.key ?? ['id']);
  await pool.query(input.ddl);
  await migrate({ database: pool, views, log: silent });
  const { tables } = await installationOf(pool, views);
  await pool.query(`create table before as select row(t.*)::${name} as r from ${name} t`);
  const { rows: now } = await pool.query<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot');
  if (input.session) await writer.query(input.session);
  await writer.query('begin');
  const { rows: own } = await writer.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  for (const statement of input.write) await writer.query(statement);
  await writer.query('commit');
  return compare(pool, tables[0]!, now[0]!.snapshot, own[0]!.xid);
}

async function compare(pool: pg.Pool, table: SyncedTable, snapshot: string, xid: string): Promise<CaptureResult> {
  const { rows: log } = await pool.query<{ entry: string; own: boolean }>(
    `select case when key is null then 'truncate' else case when old is null then '+' else '-' end || array_to_string(key, ',') end
       as entry, xid = $2::xid8 as own
     from tidemark.change where table_id = $1`,
    [table.id, xid],
  );
  const withQueries = `with ${stateQueries(table, unseenLiterals(parseSnapshot(snapshot)!), log.length).join(', ')}`;
  const relation = identifier(table.schema, table.name);
  const sameKey = table.primaryKey.map(({ name }, i) => `(b.r).${identifier(name)} = c.k${i + 1}`).join(' and ');
  const { rows: images } = await pool.query<{ exact: boolean }>(
    `${withQueries} select coalesce(bool_and(coalesce(c.old::${relation} *= b.r, false)), true) as exact
     from ${states.changedKeys(table.id)} c join before b on ${sameKey}`,
  );
  return {
    log: log.map(({ entry }) => entry),
    exact: images[0]!.exact,
    ownXid: log.every((row) => row.own),
    rebuilt: await texts(pool, `${withQueries} select row(a.*)::text as row from ${states.asOf(table.id)} a`),
    before: await texts(pool, 'select row((r).*)::text as row from before'),
  };
}

async function texts(pool: pg.Pool, query: string): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(`${query} order by 1`);
  return rows.map(({ row }) => row);
}
