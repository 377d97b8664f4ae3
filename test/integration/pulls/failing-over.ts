/** Operations on databases in tests of failovers, each on a connection of its own. */
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import type { Standby } from '../../support/replication.js';
import { connect } from '../../support/standby.js';

const hour = 3600;

/** Runs statements, and returns the rows of the last one. */
export async function write(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const connection = await connect(url);
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await connection.query(statement));
    return rows;
  } finally {
    await connection.end();
  }
}

/** Writes a heartbeat, as every server on a primary does once a minute. */
export async function writeHeartbeat(url: string): Promise<void> {
  const db = openPool(url, { max: 1 });
  await prune(db, hour).finally(() => db.close());
}

/**
 * Starts a standby whose primary is gone, and waits until it has requested more WAL. Before that, nothing shows that a
 * promotion ends its recovery.
 */
export async function startAlone(standby: Standby): Promise<void> {
  await standby.start();
  const connection = await connect(standby.url);
  try {
    for (const end = Date.now() + 10_000; ; ) {
      const { rows } = await connection.query('select pg_last_wal_receive_lsn() is not null as "hasRequested"');
      if (rows[0].hasRequested) return;
      if (Date.now() > end) throw new Error('The standby does not ask its primary for more');
    }
  } finally {
    await connection.end();
  }
}
