import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  /** A pool to look at the database with. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

const schema = readFileSync(new URL('../sql/0001-initial.sql', import.meta.url), 'utf8');

/** A fresh database of the test cluster, with Tidemark's tables in it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER;
  if (cluster === undefined) throw new Error('the global setup has not started a cluster');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onCluster(cluster, `create database ${name}`);
  const url = cluster + name;
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  pool.on('error', () => {});
  await pool.query('create schema tidemark');
  await pool.query(schema);
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await onCluster(cluster, `drop database ${name} with (force)`);
    },
  };
}

async function onCluster(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}postgres` });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
