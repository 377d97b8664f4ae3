import type { Pool, PoolClient } from 'pg';
import { SetupError } from '../errors.js';
import { cancelStatement } from './cancel.js';
import { explainPooler } from './poolers/settings.js';
import { GivenUpError, isTransient, NotConnectedError } from './sqlstate.js';

/** The maximum number of prepared statements per connection: Postgres keeps each plan, and poolers have limits. */
const maxPrepared = 200;

/** The error message of work whose signal has aborted. */
export const abandonedMessage = 'Nobody waits for the rows any more';

/** The names of the statements that each connection has prepared. */
const prepared = new WeakMap<PoolClient, Set<string>>();

/** A client of the pool that is checked out for one use. */
export interface Checkout {
  readonly client: PoolClient;
  /** Records that the connection prepares a statement under this name, or has already done so. */
  prepares(name: string): void;
  /** Returns the error that broke the connection after the checkout, if one did. */
  lost(): Error | undefined;
  /** Has Postgres cancel the current statement. The client must still be released; its connection is then closed. */
  cancel(): void;
  /**
   * Returns the client to the pool. Closes its connection if that is broken or holds too many prepared statements, if a
   * statement was cancelled, or if `discard` is true.
   */
  release(discard?: boolean): void;
}

/**
 * Checks a client out. It always has an `error` listener; without one, a killed backend would end the process.
 * @param signal aborts when the client's work is no longer needed
 * @throws GivenUpError if the signal has aborted by then; NotConnectedError, SetupError or a transient failure if it
 * cannot connect
 */
export function checkOut(pool: Pool, signal?: AbortSignal): Promise<Checkout> {
  return new Promise((resolve, reject) => {
    // Uses a callback because the pool removes its own listener just before calling it. While a promise resolved, an
    // error in the same packet as the client's ReadyForQuery would find no listener.
    pool.connect((error, client) => {
      if (client === undefined) return reject(explainRefusal(error));
      const checkout = watch(client);
      if (!signal?.aborted) return resolve(checkout);
      checkout.release();
      reject(new GivenUpError(abandonedMessage));
    });
  });
}

/** Returns a transient error or a SetupError for any failure to connect, since it says nothing about the work. */
function explainRefusal(error: unknown): unknown {
  const explained = explainPooler(error);
  if (isTransient(explained) || explained instanceof SetupError) return explained;
  return new NotConnectedError(explained as Error);
}

function watch(client: PoolClient): Checkout {
  let lost: Error | undefined;
  let cancelled: Promise<void> | undefined;
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  return {
    client,
    lost: () => lost,
    prepares(name) {
      const names = prepared.get(client) ?? new Set();
      prepared.set(client, names.add(name));
    },
    cancel() {
      cancelled ??= cancelStatement(client);
    },
    release(discard = false) {
      const holdsTooMuch = (prepared.get(client)?.size ?? 0) >= maxPrepared;
      const giveBack = () => {
        // The pool adds its own listener before `off` removes this one.
        client.release(lost ?? (discard || holdsTooMuch || cancelled !== undefined));
        client.off('error', onError);
      };
      if (cancelled === undefined) giveBack();
      else cancelled.then(giveBack);
    },
  };
}
