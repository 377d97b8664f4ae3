import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { serve } from '../serve.js';
import { mutators } from './mutators.js';
import { tx } from './tx.js';
import { views } from './views.js';

/** Everything else that your application does with postgres.js uses connections of its own. */
async function createTables(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.file(fileURLToPath(new URL('schema.sql', import.meta.url)));
  await sql.end();
}

await serve({ createTables, views, mutators, tx });
