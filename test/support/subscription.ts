/** Logical replication between two databases of a cluster. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, vi } from 'vitest';
import { startCluster, type TestCluster } from './cluster.js';
import type { TestDatabase } from './database.js';

/** A separate cluster for the tests of a block, with the settings that logical replication needs. */
export function useLogicalReplication(): void {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster({ wal_level: 'logical' });
    vi.stubEnv('TIDEMARK_TEST_CLUSTER', cluster.url);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await cluster.stop();
  });
}

export interface Subscription {
  /** Writes to the publisher, and waits until the subscriber has the change. */
  write(sql: string): Promise<void>;
  drop(): Promise<void>;
}

/**
 * Makes a database subscribe to tables of another, and waits until their rows have been copied.
 * @param tables the tables' names, separated by commas
 * @param options of the publication, as in `with (…)`
 */
export async function subscribe(
  from: TestDatabase,
  to: TestDatabase,
  tables: string,
  options = 'publish_via_partition_root = false',
): Promise<Subscription> {
  const name = `sub_${tables.replaceAll(/\W+/g, '_')}`;
  const { hostname, port, username, password, pathname } = new URL(from.url);
  const connection = `host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`;
  await from.pool.query(`create publication ${name} for table ${tables} with (${options})`);
  // Within one cluster, CREATE SUBSCRIPTION would wait for itself if it created the slot.
  await from.pool.query(`select pg_create_logical_replication_slot('${name}', 'pgoutput')`);
  await to.pool.query(`create subscription ${name} connection ${pg.escapeLiteral(connection)}
    publication ${name} with (create_slot = false)`);
  const copied = `select bool_and(srsubstate = 'r') as done from pg_subscription_rel`;
  while (!(await to.pool.query(copied)).rows[0].done) await sleep(20);
  const confirmed = `select confirmed_flush_lsn >= $1::pg_lsn as done from pg_replication_slots where slot_name = '${name}'`;
  return {
    async write(sql) {
      await from.pool.query(sql);
      const { rows } = await from.pool.query('select pg_current_wal_lsn()::text as lsn');
      while (!(await from.pool.query(confirmed, [rows[0].lsn])).rows[0].done) await sleep(20);
    },
    async drop() {
      await to.pool.query(`alter subscription ${name} disable`);
      await to.pool.query(`alter subscription ${name} set (slot_name = none)`);
      await to.pool.query(`drop subscription ${name}`);
      const free = `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${name}' and not active`;
      while ((await from.pool.query(free)).rowCount === 0) await sleep(20);
      await from.pool.query(`drop publication ${name}`);
    },
  };
}
