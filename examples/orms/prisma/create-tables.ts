import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';

/** Applies the migrations to a new database. In production, run `prisma migrate deploy`, which also keeps a record. */
export async function createTables(connectionString: string): Promise<void> {
  const folder = new URL('prisma/migrations/', import.meta.url);
  const client = new Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(`select to_regclass('todo') is null as "isNew"`);
  for (const entry of rows[0].isNew
    ? (await readdir(folder, { withFileTypes: true })).filter((e) => e.isDirectory())
    : []) {
    await client.query(await readFile(new URL(`${entry.name}/migration.sql`, folder), 'utf8'));
  }
  await client.end();
}
