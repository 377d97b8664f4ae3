import type { Pool } from 'pg';
import { openPool } from './db/pg.js';
import { captureTables, dropSchema, migrateSchema } from './installation/migrate.js';
import { jsonLog, type Logger } from './log.js';
import type { PokesOptions } from './server.js';
import { ClientViews } from './view/client-views.js';
import type { Views } from './view/define.js';
import { type SampleOptions, sampleInput } from './view/sample.js';

export interface UninstallOptions {
  /** A connection string, or a pool of the application's own, which stays the application's to close. */
  readonly database: string | Pool;
}

export interface MigrateOptions<Context> extends UninstallOptions, SampleOptions<Context> {
  /** The role must own the tables that they read. */
  readonly views: Views<Context>;
  /**
   * With `notify`, Postgres notifies the servers of each commit: other servers' writes are poked about sooner, and
   * commits are slower.
   */
  readonly pokes?: Pick<PokesOptions, 'notify'> | undefined;
  /** Told of each step. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/**
 * Installs or upgrades Tidemark's schema and the change capture on every table that the views read.
 * Safe to run again, and at the same time from several places.
 * @throws SetupError when a view cannot be served, or the schema is newer than this code.
 */
export async function migrate<Context>(options: MigrateOptions<Context>): Promise<void> {
  const { database, views, pokes, log = jsonLog() } = options;
  const progress = (message: string) => log.info({}, message);
  const db = openPool(database);
  try {
    const bound = await new ClientViews(db, views).bind(sampleInput(options), '');
    await migrateSchema(db, { notify: pokes?.notify ?? false, progress });
    const tables = new Map(bound.flatMap((view) => view.tables).map((table) => [table.oid, table]));
    await captureTables(db, [...tables.values()], progress);
  } finally {
    await db.close();
  }
}

/**
 * Removes Tidemark from a database: its schema with all that it knows of clients, and every capture trigger. The
 * application's tables stay as they are.
 */
export async function uninstall({ database }: UninstallOptions): Promise<void> {
  const db = openPool(database);
  try {
    await dropSchema(db);
  } finally {
    await db.close();
  }
}
