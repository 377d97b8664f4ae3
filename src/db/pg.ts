import pg from 'pg';
import { cancelStatement } from './cancel.js';
import { checkOut } from './checkout.js';
import { readCopy } from './copy.js';
import type { Database, QueryDescription, Statement } from './database.js';
import { listenTo } from './listen.js';
import { atOneMoment } from './moment.js';
import { isStalePlan } from './sqlstate.js';
import { createTransact } from './transact.js';

export interface PoolOptions {
  /** The most connections held at once. Default 10. */
  readonly max?: number;
  /** How long to wait for a connection, a new one or one from the pool, in milliseconds. Default 5,000. */
  readonly connectionTimeoutMs?: number;
  /** Called when a connection breaks while nobody uses it. The pool replaces it; this is for the log. */
  readonly onIdleError?: (error: Error) => void;
}

/**
 * Opens a connection pool for a Postgres URL, or takes one that the application has: `close` ends only a pool of our own.
 * It connects at its first use.
 */
export function openPool(source: string | pg.Pool, options: PoolOptions = {}): Database {
  const pool = typeof source === 'string' ? createPool(source, options) : source;
  // Without a listener, a broken idle connection would end the process.
  const onError = (error: Error) => options.onIdleError?.(error);
  pool.on('error', onError);
  return {
    query: <Row>(statement: Statement) => query<Row>(pool, statement),
    describe: (text, parameterCount) => describe(pool, text, parameterCount),
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

async function describe(pool: pg.Pool, text: string, parameterCount: number): Promise<QueryDescription> {
  const checkout = await checkOut(pool);
  const { client } = checkout;
  try {
    const values = new Array<null>(parameterCount).fill(null);
    const { fields } = await client.query({ text: `select * from (\n${text}\n) q limit 0`, values });
    const columns = fields.map(({ name, dataTypeID }) => ({ name, typeOID: dataTypeID }));
    return { columns, parameterTypes: parameterCount === 0 ? [] : await parameterTypes(client, text) };
  } finally {
    checkout.release();
  }
}

/** In one message, which a pooler in transaction mode does not tear apart, and which leaves nothing when it fails. */
async function parameterTypes(client: pg.ClientBase, text: string): Promise<string[]> {
  const results: unknown = await client.query(`prepare tidemark_described as ${text}\n;
    select array(select format_type(t, null) from unnest(parameter_types::oid[]) with ordinality u (t, n) order by n) as types
    from pg_prepared_statements where name = 'tidemark_described';
    deallocate tidemark_described`);
  // Typed for one statement; the driver answers several with an array.
  const [row] = (results as pg.QueryResult<{ types: string[] }>[]).find(({ command }) => command === 'SELECT')!.rows;
  return row!.types;
}
