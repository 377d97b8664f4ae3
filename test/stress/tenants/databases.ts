import pg from 'pg';
import { migrate } from '../../../src/migrate.js';
import { ddl, views } from '../../integration/tenants/tenanted.js';
import { silent } from '../../support/log.js';

/** Creates the database of a tenant, migrated; its name is that of the tenant. */
export async function createFirst(cluster: string, name: string): Promise<void> {
  await on(cluster, `create database "${name}"`);
  const address = new URL(cluster);
  address.pathname = name;
  await on(address.href, ddl);
  await migrate({ database: address.href, views, log: silent });
}

/** Creates more, as copies of one that nobody is connected to. */
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
