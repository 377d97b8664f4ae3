import type { Pool } from 'pg';
import { captureTables, dropSchema, migrateSchema, type Progress } from './db/migrate.js';
import { openPool } from './db/pg.js';
import { ClientViews } from './view/client-views.js';
import type { Views } from './view/define.js';

export interface MigrateOptions<Context> {
  /** A connection string, or a pool of the application's own. The role must own the tables that the views read. */
  readonly database: string | Pool;
  readonly views: Views<Context>;
  /** A context like those of `authenticate`, to build each view's query once and see which tables it reads. */
  readonly sampleContext?: Context | undefined;
  /** Have Postgres notify the servers of each commit. Pokes for other servers' writes are then sooner, and commits slower. Default false. */
  readonly notify?: boolean | undefined;
  /** Told of each step in a sentence. */
  readonly progress?: Progress | undefined;
}

/** The context that views are tried with where the application gives none. */
export const defaultSampleContext = { userID: 'sample' };

/**
 * Installs or upgrades Tidemark's schema and the change capture on every table that the views read.
 * Safe to run again, and at the same time from several places.
 * @throws SetupError when a view cannot be served, or the schema is newer than this code.
 */
export async function migrate<Context>(options: MigrateOptions<Context>): Promise<void> {
  const { views, sampleContext = defaultSampleContext as Context, notify = false, progress = () => {} } = options;
  const db = openPool(options.database);
  try {
    const input = { ctx: sampleContext, profileID: '', schemaVersion: '' };
    const bound = await new ClientViews(db, views).bind(input, '');
    await migrateSchema(db, { notify, progress });
    const tables = new Map(bound.flatMap((view) => view.tables).map((table) => [table.oid, table]));
    await captureTables(db, [...tables.values()], progress);
  } finally {
    await db.close();
  }
}

/**
 * Removes Tidemark from a database: its schema with all that it knows of clients, and every capture trigger. The application's
 * tables stay as they are.
 */
export async function uninstall(database: string | Pool): Promise<void> {
  const db = openPool(database);
  try {
    await dropSchema(db);
  } finally {
    await db.close();
  }
}
