import { CamelCasePlugin, Kysely, Migrator, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { serve } from '../serve.js';
import { migrations } from './migrations.js';
import { mutators } from './mutators.js';
import { tx } from './tx.js';
import { views } from './views.js';

async function createTables(connectionString: string): Promise<void> {
  const dialect = new PostgresDialect({ pool: new Pool({ connectionString }) });
  const db = new Kysely<unknown>({ dialect, plugins: [new CamelCasePlugin()] });
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  await db.destroy();
  if (error) throw error;
}

await serve({ createTables, views, mutators, tx });
