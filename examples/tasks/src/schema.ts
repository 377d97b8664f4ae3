import { readFile } from 'node:fs/promises';
import type { ClientBase, Pool } from 'pg';

/** Creates the example's tables where they are missing. */
export async function createSchema(db: ClientBase | Pool): Promise<void> {
  // The path holds from `src` and from `dist`.
  await db.query(await readFile(new URL('../src/schema.sql', import.meta.url), 'utf8'));
}
