import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';
import { type Checkout, checkOut } from './checkout.js';
import type { Database, Edges, Statement } from './database.js';
import { inline } from './literal.js';
import { ConnectionLostError, isRetryable } from './sqlstate.js';

/** How many times a transaction is tried in parallel with others. */
const FREE_ATTEMPTS = 2;
/** How many more times it is then tried, while other such retries wait. */
const QUEUED_ATTEMPTS = 18;

const FIRST_BACKOFF_MS = 2;
const LAST_BACKOFF_MS = 50;

/** The work swallowed the error of a statement, so Postgres rolled the transaction back instead of committing it. */
class SwallowedError extends Error {
  override readonly name = 'SwallowedError';
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
 */
export function createTransact(pool: Pool): Database['transact'] {
  const inTurn = createQueue();
  return async (work, first = []) => {
    const attempt = async () => attemptOnce(await checkOut(pool), work, first);
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

/** Runs functions one after the other. */
function createQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const result = last.then(run);
    last = result.catch(() => {});
    return result;
  };
}

async function attemptOnce<T>(
  checkout: Checkout,
  work: (client: PoolClient, edges: Edges) => Promise<T>,
  first: readonly Statement[],
): Promise<T> {
  const { client } = checkout;
  let sound = false;
  let last: readonly Statement[] = [];
  const begin = async () => {
    const [, ...results] = await together(client, 'begin isolation level repeatable read', ...first.map(inline));
    return results.map(({ rows }) => rows);
  };
  const edges = (rows: Edges['first']): Edges => ({
    first: rows,
    last: (statement) => {
      last = [...last, statement];
    },
  });
  try {
    const result = await begin()
      .then((rows) => work(client, edges(rows)))
      .catch(async (error: unknown) => {
        await rollback(checkout, error);
        sound = true;
        throw error;
      });
    if (client.getTransactionStatus() === 'I') {
      sound = true;
      throw new TransactionEndedError('The callback ended its transaction');
    }
    const ended = await together(client, ...last.map(inline), 'commit');
    sound = true;
    // Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error.
    if (ended.at(-1)!.command === 'ROLLBACK') throw new SwallowedError("The callback swallowed a statement's error");
    return result;
  } catch (error) {
    const lost = checkout.lost();
    throw lost === undefined ? error : new ConnectionLostError(lost.message, { cause: error });
  } finally {
    checkout.release(!sound);
  }
}

/** Runs statements in one round trip. If one fails, those after it are not run. */
async function together(client: PoolClient, ...texts: string[]): Promise<QueryResult[]> {
  // The driver's types do not know that several statements have several results.
  const results: unknown = await client.query(texts.join('; '));
  return [results].flat() as QueryResult[];
}

/**
 * Rolls back. If that fails, the connection is lost; the work may have hidden this behind an error of its own.
 */
async function rollback({ client }: Checkout, error: unknown): Promise<void> {
  try {
    await client.query('rollback');
  } catch (rollbackError) {
    throw new ConnectionLostError('The connection was lost during the transaction', {
      cause: new AggregateError([error, rollbackError]),
    });
  }
}
