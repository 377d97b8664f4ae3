import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openPool } from '../src/db/pg.js';
import { migrateSchema } from '../src/installation/migrate.js';

export interface TestDatabase {
  readonly url: string;
  /** A pool to look at the database with. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

/** A fresh database of the test cluster, with Tidemark's schema in it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  const db = openPool(database.pool);
  await migrateSchema(db, { notify: false, progress: () => {} });
  await db.close();
  return database;
}

/** A fresh database of the test cluster. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER;
  if (cluster === undefined) throw new Error('the global setup has not started a cluster');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onCluster(cluster, `create database ${name}`);
  const address = new URL(cluster);
  address.pathname = name;
  const pool = new pg.Pool({ connectionString: address.href, max: 5 });
  pool.on('error', () => {});
  return {
    url: address.href,
    pool,
    async drop() {
      await pool.end();
      await onCluster(cluster, `drop database ${name} with (force)`);
    },
  };
}

async function onCluster(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
