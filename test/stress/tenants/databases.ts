import pg from 'pg';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { ddl, views } from '../../integration/tenants/tenanted.js';
import { silent } from '../../support/log.js';

/** Creates and migrates a tenant's database, which is named after the tenant. */
export async function createFirst(cluster: string, name: string): Promise<void> {
  await on(cluster, `create database "${name}"`);
  const address = new URL(cluster);
  address.pathname = name;
  await on(address.href, ddl);
  await migrate({ database: address.href, views, log: silent });
}

/** Creates more databases, as copies of one without connections. */
export async function createCopies(cluster: string, template: string, names: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: cluster });
  await client.connect();
  for (const name of names) await client.query(`create database "${name}" template "${template}" strategy file_copy`);
  await client.end();
}

async function on(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
