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

/** How long a transaction, and what it waits for, may take, in milliseconds. */
export interface TransactionLimits {
  /** All of it, with what is done between its statements. Its connection is then closed. */
  readonly transactionMs: number;
  /** Waiting for one lock. */
  readonly lockMs: number;
}

/** How many times a transaction is tried in parallel with others. */
const FREE_ATTEMPTS = 2;
/** How many more times it is then tried, while other such retries wait. */
const QUEUED_ATTEMPTS = 18;

const FIRST_BACKOFF_MS = 2;
const LAST_BACKOFF_MS = 50;
/** How long a retry has its turn before the next one begins: it may hang. */
const PATIENCE_MS = 1_000;

/** The work swallowed the error of a statement, so Postgres rolled the transaction back instead of committing it. */
class SwallowedError extends Error {
  override readonly name = 'SwallowedError';

  constructor(options?: ErrorOptions) {
    super("The callback swallowed a statement's error", options);
  }
}

/** The work ended the transaction that it was given. */
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
 * Retries after serialization failures and deadlocks, after a random pause and on any connection of the pool. If that
 * does not help, retries take turns: otherwise, many writers of one row would keep making each other fail. Also retries
 * if the work swallowed an error, since that may have been a failure of this kind.
 *
 * @param limits each attempt's; default: none
 */
export function createTransact(pool: Pool, limits?: TransactionLimits): Database['transact'] {
  const inTurn = createTurns();
  return async (work, first = []) => {
    const attempt = () => attemptOnce(pool, work, first, limits);
    try {
      return await retry(attempt, FREE_ATTEMPTS);
    } catch (error) {
      if (!mayPass(error)) throw error;
      return await inTurn(() => retry(attempt, QUEUED_ATTEMPTS));
    }
  };
}

/**
 * Makes attempts until one succeeds, fails for a reason that will not pass, or is the last. Pauses in between.
 * @throws what the last attempt throws.
 */
export async function retry<T>(attempt: () => Promise<T>, attempts: number): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (made === attempts || !mayPass(error)) throw error;
      await sleep(Math.random() * Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** made));
    }
  }
}

function mayPass(error: unknown): boolean {
  return isRetryable(error) || error instanceof SwallowedError;
}

/** Runs functions one after the other; if one takes long, the next one begins beside it. */
function createTurns(): <T>(run: () => Promise<T>) => Promise<T> {
  let begun: Promise<unknown> = Promise.resolve();
  let ended: Promise<unknown> = Promise.resolve();
  return (run) => {
    const isLate = begun.then(() => sleep(PATIENCE_MS, undefined, { ref: false }));
    const turn = Promise.race([ended, isLate]);
    const result = turn.then(run);
    begun = turn;
    ended = result.catch(() => {});
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
  let discarded = false;
  let last: readonly Statement[] = [];
  const begin = async () => {
    const texts = [beginning, jitOff, ...settingsOf(limits), ...first.map(inline)];
    const results = await together(client, ...texts).catch(failExplained);
    return results.slice(results.length - first.length).map(({ rows }) => rows);
  };
  const after = () => (discarded ? endOfSession : []);
  const edges = (rows: Edges['first']): OwnEdges => ({
    first: rows,
    last: (...statements) => {
      last = [...last, ...statements];
    },
    discard: () => {
      discarded = true;
    },
  });
  try {
    const result = await within(begin().then((rows) => work(client, edges(rows)))).catch(async (error: unknown) => {
      if (error instanceof GivenUpError) throw error;
      await within(rollback(checkout, after(), error));
      sound = true;
      throw error;
    });
    if (client.getTransactionStatus() === 'I') {
      sound = true;
      throw new TransactionEndedError('The callback ended its transaction');
    }
    const ended = await within(together(client, ...last.map(inline), 'commit', ...after()).catch(explainFailed));
    sound = true;
    // Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (ended.some(({ command }) => command === 'ROLLBACK')) throw new SwallowedError();
    return result;
  } catch (error) {
    if (error instanceof GivenUpError) checkout.cancel();
    const lost = checkout.lost();
    // What a pooler refuses for good says more than that it has then closed the connection.
    if (lost === undefined || error instanceof SetupError) throw error;
    throw new ConnectionLostError(lost.message, { cause: error });
  } finally {
    end();
    checkout.release(!sound || discarded);
  }
}

const beginning = 'begin isolation level repeatable read';

/** How much later Postgres ends what this process should have ended, but cannot, since it hangs itself. */
const graceMs = 1_000;

function settingsOf(limits: TransactionLimits | undefined): string[] {
  if (!limits) return [];
  const { transactionMs, lockMs } = limits;
  return [
    `set local lock_timeout = ${lockMs}`,
    `set local idle_in_transaction_session_timeout = ${transactionMs + graceMs}`,
  ];
}

/** Runs statements in one round trip. If one fails, those after it are not run. */
async function together(client: PoolClient, ...texts: string[]): Promise<QueryResult[]> {
  // The driver's types do not know that several statements have several results.
  const results: unknown = await client.query(texts.join('; '));
  return [results].flat() as QueryResult[];
}

/** Other statements than the COMMIT of a failed transaction fail. */
function explainFailed(cause: unknown): never {
  throw isOfFailedTransaction(cause) ? new SwallowedError({ cause }) : cause;
}

/**
 * Rolls back. If that fails, the connection is lost; the work may have hidden this behind an error of its own.
 */
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
