import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { type Checkout, checkOut } from './checkout.js';
import { ConnectionLostError, isRetryable } from './sqlstate.js';

/** How often a transaction is tried before its serialization failure or deadlock is passed on. */
export const MAX_ATTEMPTS = 10;

const FIRST_BACKOFF_MS = 5;
const LAST_BACKOFF_MS = 400;

/** The work swallowed the error of a statement, so Postgres rolled its transaction back instead of committing it. */
export class SwallowedErrorError extends Error {
  override readonly name = 'SwallowedErrorError';
}

/** The work ended the transaction that it was given. */
export class TransactionEndedError extends Error {
  override readonly name = 'TransactionEndedError';
}

/**
 * Runs `work` in a REPEATABLE READ transaction and commits it; rolls back when it throws.
 * Serialization failures and deadlocks are tried again, with another connection and after a random pause. So are
 * swallowed errors, since the one swallowed may have been of that kind.
 */
export async function transact<T>(pool: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(await checkOut(pool), work);
    } catch (error) {
      const again = isRetryable(error) || error instanceof SwallowedErrorError;
      if (!again || attempt === MAX_ATTEMPTS) throw error;
      await sleep(Math.random() * Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt));
    }
  }
}

async function attemptOnce<T>(checkout: Checkout, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const { client } = checkout;
  let sound = false;
  try {
    await client.query('begin isolation level repeatable read');
    const result = await work(client).catch(async (error: unknown) => {
      await rollback(checkout, error);
      sound = true;
      throw error;
    });
    if (client.getTransactionStatus() === 'I') {
      sound = true;
      throw new TransactionEndedError('The work ended the transaction that it was given');
    }
    const { command } = await client.query('commit');
    sound = true;
    // Postgres answers the COMMIT of a failed transaction with ROLLBACK, and with no error.
    if (command === 'ROLLBACK') throw new SwallowedErrorError('The work swallowed the error of a statement');
    return result;
  } catch (error) {
    const lost = checkout.lost();
    throw lost === undefined ? error : new ConnectionLostError(lost.message, { cause: error });
  } finally {
    checkout.release(!sound);
  }
}

/** That the rollback fails says that the connection is gone; the work may have hidden that behind an error of its own. */
async function rollback({ client }: Checkout, error: unknown): Promise<void> {
  try {
    await client.query('rollback');
  } catch (rollbackError) {
    throw new ConnectionLostError('The connection was lost during the work', {
      cause: new AggregateError([error, rollbackError]),
    });
  }
}
