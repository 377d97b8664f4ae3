import pg from 'pg';
import { SetupError } from '../errors.js';
import { checkOut } from './checkout.js';
import type { ConnectionStock } from './connection-stock.js';
import { readCopy } from './copy.js';
import type { Database, Statement } from './database.js';
import { describeColumns, describeQuery } from './describe.js';
import { listenTo } from './listen.js';
import { atOneMoment } from './moment.js';
import { OwnQuery, type OwnQueryConfig } from './own-settings.js';
import { NamedStatements } from './poolers/named-statements.js';
import { endsConnection, isOfStatementName } from './sqlstate.js';
import { createTransact, type TransactionLimits } from './transact.js';

/** The options of `openPool`. The first three apply only to a pool that it creates. */
export interface PoolOptions {
  /** The most connections that are open at once. Default 10. */
  readonly max?: number | undefined;
  /** How long to wait for a new or a free connection, in milliseconds. Default 5,000. */
  readonly connectionTimeoutMs?: number | undefined;
  /** What its connections are taken from, together with those of other pools. Default: they are its own. */
  readonly stock?: Pick<ConnectionStock, 'createPool'> | undefined;
  /** How long work may take. Default: as long as it likes. */
  readonly limits?: Limits | undefined;
  /** Called when an unused connection breaks, for logging. The pool replaces the connection. */
  readonly onIdleError?: ((error: Error) => void) | undefined;
  /** Called once, for logging, if statements cannot be prepared because of a pooler. */
  readonly onUnprepared?: (() => void) | undefined;
}

/** How long work in the database may take, in milliseconds. */
export interface Limits extends TransactionLimits {
  /** A statement outside a transaction, up to its first rows. */
  readonly statementMs: number;
}

/**
 * Opens a connection pool for a Postgres URL, or uses the application's own pool, which `close` does not end. Connects
 * at the first use.
 * @throws SetupError if what was passed as a pool is none of `pg`; the message says what to pass.
 */
export function openPool(source: string | pg.Pool, options: PoolOptions = {}): Database {
  const pool = typeof source === 'string' ? createPool(source, options) : checked(source);
  const { limits } = options;
  const names = new NamedStatements(options.onUnprepared);
  // Without a listener, a broken idle connection would end the process. While the pool ends, the database may, too.
  const onError = (error: Error) => {
    if (!pool.ending) options.onIdleError?.(error);
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
    atOneMoment: (work) => atOneMoment(pool, names, work),
    listen: (channel, ...told) => listenTo(pool, channel, ...told),
    async close() {
      // A pool that was created here keeps its listener: connections can still break while they close.
      if (typeof source === 'string') await pool.end();
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
  return options.stock?.createPool(config) ?? new pg.Pool(config);
}

/** Not by `instanceof`: the application may have a `pg` of its own. */
function checked(source: pg.Pool): pg.Pool {
  const given: Partial<Record<'on' | 'connect' | 'query' | 'options' | 'begin', unknown>> = Object(source);
  const { on, connect, query, options, begin } = given;
  const isClient = [on, connect, query].every((method) => typeof method === 'function');
  if (isClient && Number.isInteger((options as pg.PoolOptions | undefined)?.max)) return source;
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
  usualMs: number | undefined,
): Promise<Row[]> {
  const name = names.nameOf(statement);
  const { timeoutMs = usualMs } = statement;
  const run = (name: string | undefined) => queryOnce<Row>(pool, { ...statement, timeoutMs, name });
  return run(name).catch((error: unknown) => {
    if (name === undefined || !names.areWhy(error)) throw error;
    return run(undefined);
  });
}

/** @param statement its name, if it has one, is what it is prepared under */
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
    // Not reused after most errors: the connection may be about to break, or may hold a plan that no longer fits.
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
