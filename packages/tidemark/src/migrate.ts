import type { Pool } from 'pg';
import { openPool } from './db/pg.js';
import { type Logger, resolveLogger } from './log.js';
import { sampleInputFor } from './sample-args.js';
import { findRefusals } from './schema/check-refusals.js';
import { captureTables, dropSchema, migrateSchema } from './schema/migrate.js';
import { RowFormatLog } from './schema/row-formats/row-format-log.js';
import { readSchemaWithPoint } from './schema/schema-state.js';
import type { PokesOptions } from './sync-options.js';
import { ClientViews } from './view/client-views.js';
import type { Views } from './view/define.js';
import type { SampleOptions } from './view/sample.js';

/** The options of `uninstall`. */
export interface UninstallOptions {
  /** A connection string, or your own `pg` pool, which remains yours to close. */
  readonly database: string | Pool;
}

/** The options of `migrate`. */
export interface MigrateOptions<Context> extends UninstallOptions, SampleOptions<Context> {
  /** The client views by name. The database role must own the tables that they read. */
  readonly views: Views<Context>;
  /**
   * With `notify`, Postgres notifies the servers of each commit. They then poke clients sooner about writes made
   * elsewhere, but commits become slower. Default: no notifications.
   */
  readonly pokes?: Pick<PokesOptions, 'notify'> | undefined;
  /** Logs each step. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/**
 * Installs or upgrades Tidemark's schema, and the change capture of every table that the views read. Safe to run
 * repeatedly and concurrently.
 * @throws SetupError if a view cannot be served, the schema is newer than this code, or a lock is held for too long.
 */
export async function migrate<Context>(options: MigrateOptions<Context>): Promise<void> {
  const { database, views, pokes } = options;
  const log = resolveLogger(options.log);
  const progress = (message: string) => log.info({}, message);
  const db = openPool(database);
  try {
    const resolved = await new ClientViews(db, views).resolve(await sampleInputFor(options), '');
    await migrateSchema(db, { notify: pokes?.notify ?? false, progress });
    const tables = new Map(resolved.flatMap((view) => view.tables).map((table) => [table.oid, table]));
    const refusals = await findRefusals(db);
    const all = [...tables.set(refusals.oid, refusals).values()];
    await captureTables(db, all, progress);
    const { schemaState, readPoint } = await readSchemaWithPoint(db, all);
    await new RowFormatLog(db).recordChanges(schemaState.tables, readPoint);
  } finally {
    await db.close();
  }
}

/**
 * Removes Tidemark from a database: its schema, including all records of clients, and every capture trigger. The
 * application's tables stay unchanged.
 */
export async function uninstall({ database }: UninstallOptions): Promise<void> {
  const db = openPool(database);
  try {
    await dropSchema(db);
  } finally {
    await db.close();
  }
}
