import { readFile } from 'node:fs/promises';
import type { ClientBase, Pool } from 'pg';

/** Creates the example's tables if they do not exist. */
export async function createSchema(db: ClientBase | Pool): Promise<void> {
  // This path is right both from `src` and from `dist`.
  await db.query(await readFile(new URL('../src/schema.sql', import.meta.url), 'utf8'));
}
