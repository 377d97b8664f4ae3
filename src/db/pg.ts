import pg from 'pg';
import { cancelStatement } from './cancel.js';
import { checkOut } from './checkout.js';
import { readCopy } from './copy.js';
import type { Database, Statement } from './database.js';
import { describeColumns, describeQuery } from './describe.js';
import { listenTo } from './listen.js';
import { atOneMoment } from './moment.js';
import { isStalePlan } from './sqlstate.js';
import { createTransact } from './transact.js';

export interface PoolOptions {
  /** The most connections held at once. Default 10. */
  readonly max?: number | undefined;
  /** How long to wait for a connection, a new one or one from the pool, in milliseconds. Default 5,000. */
  readonly connectionTimeoutMs?: number | undefined;
  /** Called when a connection breaks while nobody uses it. The pool replaces it; this is for the log. */
  readonly onIdleError?: ((error: Error) => void) | undefined;
}

/**
 * Opens a connection pool for a Postgres URL, or takes one that the application has: `close` ends only a pool of our
 * own. It connects at its first use.
 */
export function openPool(source: string | pg.Pool, options: PoolOptions = {}): Database {
  const pool = typeof source === 'string' ? createPool(source, options) : source;
  // Without a listener, a broken idle connection would end the process.
  const onError = (error: Error) => options.onIdleError?.(error);
  pool.on('error', onError);
  return {
    query: <Row>(statement: Statement) => query<Row>(pool, statement),
    describe: (text) => describeQuery(pool, text),
    columns: (text) => describeColumns(pool, text),
    copy: (text) => readCopy(pool, text),
    transact: createTransact(pool),
    atOneMoment: (work) => atOneMoment(pool, work),
    listen: (channel, onNotice) => listenTo(pool, channel, onNotice),
    async close() {
      // Our own pool keeps its listener: connections can still break while they close.
      if (typeof source === 'string') await pool.end();
      else pool.off('error', onError);
    },
  };
}

function createPool(connectionString: string, options: PoolOptions): pg.Pool {
  return new pg.Pool({
    connectionString,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    fallback_application_name: 'tidemark',
  });
}

async function query<Row>(pool: pg.Pool, statement: Statement): Promise<Row[]> {
  const checkout = await checkOut(pool);
  const { client } = checkout;
  const { text, name, timeoutMs } = statement;
  // The driver's types do not know of `query_timeout` for one query.
  const nameless: pg.QueryConfig = { text, values: [...(statement.values ?? [])], ...{ query_timeout: timeoutMs } };
  // After an error the connection may be about to break, or hold a plan that no longer fits: it is not used again.
  let sound = true;
  try {
    const { rows } = await client.query({ ...nameless, name }).catch((error: unknown) => {
      sound = false;
      if (timeoutMs !== undefined && isTimeout(error)) cancelStatement(pool, client);
      if (name === undefined || !isStalePlan(error)) throw error;
      return client.query(nameless);
    });
    return rows as Row[];
  } finally {
    checkout.release(!sound);
  }
}

/** The driver gives its own timeouts no code. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
