import pg from 'pg';
import { SetupError } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import { checkOut } from './checkout.js';
import type { ConnectionBudget } from './connection-budget.js';
import { readCopy } from './copy.js';
import type { Database, Statement } from './database.js';
import { describeColumns, describeQuery } from './describe.js';
import { listenTo } from './listen.js';
import { OwnQuery, type OwnQueryConfig } from './own-settings.js';
import { NamedStatements } from './poolers/named-statements.js';
import { inSnapshot } from './snapshot-transaction.js';
import { endsConnection, isOfStatementName } from './sqlstate.js';
import { createTransact, type TransactionLimits } from './transact.js';

/** The options of `openPool`. The first three apply only to a pool that it creates. */
export interface PoolOptions {
  /** The maximum number of open connections. Default 10. */
  readonly max?: number | undefined;
  /** How long to wait for a new or a free connection, in milliseconds. Default 5,000. */
  readonly connectionTimeoutMs?: number | undefined;
  /** The connection budget that the pool shares with others. Default: none. */
  readonly connectionBudget?: Pick<ConnectionBudget, 'createPool'> | undefined;
  /** Time limits for work in the database. Default: none. */
  readonly limits?: Limits | undefined;
  /** Receives a line for each idle connection that breaks, and one if a pooler prevents prepared statements. */
  readonly log?: Pick<Logger, 'info' | 'warn'> | undefined;
}

/** Time limits for work in the database, in milliseconds. */
export interface Limits extends TransactionLimits {
  /** For a statement outside a transaction, until its first rows. */
  readonly statementMs: number;
}

/**
 * Opens a connection pool for a Postgres URL, or uses the application's own pool, which `close` does not end. Connects
 * on first use.
 * @throws SetupError if an object passed as a pool is not one of `pg`; the message says what to pass.
 */
export function openPool(database: string | pg.Pool, options: PoolOptions = {}): Database {
  const pool = typeof database === 'string' ? createPool(database, options) : checkedPool(database);
  const { limits, log } = options;
  const names = new NamedStatements(log);
  // Without a listener, a broken idle connection would end the process. While the pool ends, breaks are expected.
  const onError = (error: Error) => {
    if (!pool.ending) log?.warn({ error: describeError(error) }, 'An idle connection broke');
  };
  pool.on('error', onError);
  const { host, port } = new pg.Client(pool.options);
  return {
    name: `${host}:${port}`,
    connections: pool.options.max,
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    query: <Row>(statement: Statement) => query<Row>(pool, names, statement, limits?.statementMs),
    describe: (text, types) => describeQuery(pool, text, types),
    columns: (text) => describeColumns(pool, text),
    copy: (text, signal) => readCopy(pool, text, { firstMs: limits?.statementMs, signal }),
    transact: createTransact(pool, limits),
    inSnapshot: (work) => inSnapshot(pool, names, work),
    listen: (channel, ...handlers) => listenTo(pool, channel, ...handlers),
    async close() {
      // A pool created here keeps its listener, because connections can still break while they close.
      if (typeof database === 'string') await pool.end();
      else pool.off('error', onError);
    },
  };
}

function createPool(connectionString: string, options: PoolOptions): pg.Pool {
  const config = {
    connectionString,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    fallback_application_name: 'tidemark',
  };
  return options.connectionBudget?.createPool(config) ?? new pg.Pool(config);
}

/** Checks a pool without `instanceof`, because the application may have its own copy of `pg`. */
function checkedPool(pool: pg.Pool): pg.Pool {
  const candidate: Partial<Record<'on' | 'connect' | 'query' | 'options' | 'begin', unknown>> = Object(pool);
  const { on, connect, query, options, begin } = candidate;
  const isClient = [on, connect, query].every((method) => typeof method === 'function');
  if (isClient && Number.isInteger((options as pg.PoolOptions | undefined)?.max)) return pool;
  const what = isClient
    ? 'a single client of `pg`, which cannot serve several requests at once'
    : typeof begin === 'function'
      ? 'a client of postgres.js'
      : 'neither a connection string nor a pool of `pg`';
  throw new SetupError(
    `The option \`database\` is ${what}. Pass a connection string, or \`new pg.Pool({ connectionString })\` of the package ` +
      '`pg`; the rest of your application may keep its own client.',
  );
}

async function query<Row>(
  pool: pg.Pool,
  names: NamedStatements,
  statement: Statement,
  defaultMs: number | undefined,
): Promise<Row[]> {
  const name = names.nameOf(statement);
  const { timeoutMs = defaultMs } = statement;
  const run = (name: string | undefined) => queryOnce<Row>(pool, { ...statement, timeoutMs, name });
  return run(name).catch((error: unknown) => {
    if (name === undefined || !names.areWhy(error)) throw error;
    return run(undefined);
  });
}

/** @param statement prepared under its name, if it has one */
async function queryOnce<Row>(pool: pg.Pool, statement: Statement): Promise<Row[]> {
  const { text, values = [], name, isCall, timeoutMs, signal } = statement;
  const checkout = await checkOut(pool, signal);
  const { client } = checkout;
  if (name !== undefined) checkout.prepares(name);
  let sound = true;
  const onAbort = () => checkout.cancel();
  signal?.addEventListener('abort', onAbort);
  try {
    const config = { text, values: [...values], name, query_timeout: timeoutMs };
    const result = await (isCall ? client.query(config) : runWithOwnSettings(client, config));
    return result.rows as Row[];
  } catch (error) {
    // Most errors close the connection: it may be about to break, or may hold a plan that no longer fits.
    sound = name !== undefined && isOfStatementName(error) && !endsConnection(error);
    if (isTimeout(error)) checkout.cancel();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    checkout.release(!sound);
  }
}

function runWithOwnSettings(client: pg.PoolClient, config: OwnQueryConfig): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(new OwnQuery(config, (error, result) => (error ? reject(error) : resolve(result))));
  });
}

/** Recognizes the driver's own timeouts by their message: they have no code. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
