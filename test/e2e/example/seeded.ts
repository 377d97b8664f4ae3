import type pg from 'pg';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { seed } from '../../../examples/tasks/src/seed.js';

/** Creates the example's tables, with the demo's data in them. */
export async function createSeeded(pool: pg.Pool): Promise<void> {
  await createSchema(pool);
  await seedDemo(pool);
}

/** Adds the demo's data to the example's tables. */
export async function seedDemo(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  await seed(client);
  client.release();
}
