import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { SetupError } from '../errors.js';
import { startDeadline } from '../limits/deadline.js';
import { type Checkout, checkOut } from './checkout.js';
import type { Database, Edges, OwnEdges, Statement } from './database.js';
import { inline } from './literal.js';
import { jitOff } from './own-settings.js';
import { endOfSession } from './poolers/session-end.js';
import { failExplained } from './poolers/settings.js';
import { ConnectionLostError, GivenUpError, isOfFailedTransaction, isRetryable } from './sqlstate.js';

/** Time limits of a transaction and of what it waits for, in milliseconds. */
export interface TransactionLimits {
  /** For the whole transaction, including the time between its statements. After that, its connection is closed. */
  readonly transactionMs: number;
  /** For waiting for one lock. */
  readonly lockMs: number;
}

/** The number of attempts that run in parallel with other transactions. */
const parallelAttempts = 2;
/** The number of further attempts, during which other such retries wait. */
const queuedAttempts = 18;

const minBackOffMs = 2;
const maxBackOffMs = 50;
/** The time after which the next queued retry starts, even if the current one hangs. */
const maxWaitMs = 1_000;

/** The work swallowed a statement's error, so Postgres rolled the transaction back instead of committing it. */
class SwallowedError extends Error {
  override readonly name = 'SwallowedError';

  constructor(options?: ErrorOptions) {
    super("The callback swallowed a statement's error", options);
  }
}

/** The work itself ended its transaction. */
class TransactionEndedError extends Error {
  override readonly name = 'TransactionEndedError';
}

/**
 * Runs work in a transaction. Commits it if the work succeeds, and otherwise rolls it back. May run the work more than
 * once.
 */
export type Transact<Transaction> = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs `work` in a REPEATABLE READ transaction and commits it; rolls back if `work` throws.
 *
 * Retries serialization failures and deadlocks, after a random pause and on any connection of the pool. If that does
 * not help, such retries run one after another; otherwise, many writers of one row would keep making each other fail.
 * Also retries if the work swallowed an error, since that may have been a failure of this kind.
 *
 * @param limits the limits of each attempt; default: none
 */
export function createTransact(pool: Pool, limits?: TransactionLimits): Database['transact'] {
  const enqueue = createRetryQueue();
  return async (work, first = []) => {
    const attempt = () => attemptOnce(pool, work, first, limits);
    try {
      return await retry(attempt, parallelAttempts);
    } catch (error) {
      if (!mayPass(error)) throw error;
      return await enqueue(() => retry(attempt, queuedAttempts));
    }
  };
}

/**
 * Makes attempts, with pauses in between, until one succeeds, fails permanently, or is the last.
 * @throws the error of the last attempt.
 */
export async function retry<T>(attempt: () => Promise<T>, attempts: number): Promise<T> {
  for (let attemptNumber = 1; ; attemptNumber++) {
    try {
      return await attempt();
    } catch (error) {
      if (attemptNumber === attempts || !mayPass(error)) throw error;
      await sleep(Math.random() * Math.min(maxBackOffMs, minBackOffMs * 2 ** attemptNumber));
    }
  }
}

function mayPass(error: unknown): boolean {
  return isRetryable(error) || error instanceof SwallowedError;
}

/** Creates a queue that runs functions one after another. If one takes too long, the next one starts anyway. */
function createRetryQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let lastStart: Promise<unknown> = Promise.resolve();
  let lastEnd: Promise<unknown> = Promise.resolve();
  return (run) => {
    const isLate = lastStart.then(() => sleep(maxWaitMs, undefined, { ref: false }));
    const start = Promise.race([lastEnd, isLate]);
    const result = start.then(run);
    lastStart = start;
    lastEnd = result.catch(() => {});
    return result;
  };
}

async function attemptOnce<T>(
  pool: Pool,
  work: (client: PoolClient, edges: OwnEdges) => Promise<T>,
  first: readonly Statement[],
  limits: TransactionLimits | undefined,
): Promise<T> {
  const checkout = await checkOut(pool);
  const { client } = checkout;
  const { within, end } = startDeadline(
    limits?.transactionMs ?? Number.POSITIVE_INFINITY,
    () => new GivenUpError(`The transaction took more than ${limits?.transactionMs} ms`),
  );
  let sound = false;
  const edges = { first: [] as Edges['first'], last: [] as Statement[], discard: false };
  const begin = async () => {
    const texts = [beginning, jitOff, ...settingsOf(limits), ...first.map(inline)];
    const results = await together(client, ...texts).catch(failExplained);
    return results.slice(results.length - first.length).map(({ rows }) => rows);
  };
  const run = async () => {
    edges.first = await begin();
    return work(client, edges);
  };
  const after = () => (edges.discard ? endOfSession : []);
  try {
    const result = await within(run()).catch(async (error: unknown) => {
      if (error instanceof GivenUpError) throw error;
      await within(rollback(checkout, after(), error));
      sound = true;
      throw error;
    });
    if (client.getTransactionStatus() === 'I') {
      sound = true;
      throw new TransactionEndedError('The callback ended its transaction');
    }
    const ended = await within(together(client, ...edges.last.map(inline), 'commit', ...after()).catch(explainFailed));
    sound = true;
    // Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (ended.some(({ command }) => command === 'ROLLBACK')) throw new SwallowedError();
    return result;
  } catch (error) {
    if (error instanceof GivenUpError) checkout.cancel();
    const lost = checkout.lost();
    // A pooler's permanent refusal says more than the loss of the connection that follows it.
    if (lost === undefined || error instanceof SetupError) throw error;
    throw new ConnectionLostError(lost.message, { cause: error });
  } finally {
    end();
    checkout.release(!sound || edges.discard);
  }
}

const beginning = 'begin isolation level repeatable read';

/** The extra time until Postgres ends a transaction that this process cannot end, because the process itself hangs. */
const graceMs = 1_000;

function settingsOf(limits: TransactionLimits | undefined): string[] {
  if (!limits) return [];
  const { transactionMs, lockMs } = limits;
  return [
    `set local lock_timeout = ${lockMs}`,
    `set local idle_in_transaction_session_timeout = ${transactionMs + graceMs}`,
  ];
}

/** Runs statements in one round trip. If one fails, the later ones do not run. */
async function together(client: PoolClient, ...texts: string[]): Promise<QueryResult[]> {
  // The driver's types do not reflect that several statements have several results.
  const results: unknown = await client.query(texts.join('; '));
  return [results].flat() as QueryResult[];
}

/** In a failed transaction, any statement but the COMMIT raises an error. */
function explainFailed(cause: unknown): never {
  throw isOfFailedTransaction(cause) ? new SwallowedError({ cause }) : cause;
}

/** Rolls back. If that fails, the connection is lost, and the work may have hidden the loss behind its own error. */
async function rollback({ client }: Checkout, after: readonly string[], error: unknown): Promise<void> {
  try {
    await together(client, 'rollback', ...after);
  } catch (rollbackError) {
    if (error instanceof SetupError) throw error;
    throw new ConnectionLostError('The connection was lost during the transaction', {
      cause: new AggregateError([error, rollbackError]),
    });
  }
}
