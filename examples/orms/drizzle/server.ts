import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { serve } from '../serve.js';
import { mutators } from './mutators.js';
import { tx } from './tx.js';
import { views } from './views.js';

async function createTables(url: string): Promise<void> {
  const db = drizzle(url);
  await migrate(db, { migrationsFolder: fileURLToPath(new URL('migrations', import.meta.url)) });
  await db.$client.end();
}

await serve({ createTables, views, mutators, tx });
