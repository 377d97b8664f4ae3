import type { Pool, PoolClient } from 'pg';
import { SetupError } from '../errors.js';
import { cancelStatement } from './cancel.js';
import { explainPooler } from './poolers/settings.js';
import { GivenUpError, isTransient, NotConnectedError } from './sqlstate.js';

/** How many prepared statements a connection may hold: Postgres keeps the plan of each, and poolers have limits. */
const mostPrepared = 200;

/** Why work is given up whose signal has aborted. */
export const abandoned = 'Nobody waits for the rows any more';

/** The names of the statements that a connection has prepared. */
const prepared = new WeakMap<PoolClient, Set<string>>();

/** A client of the pool that is checked out for one use. */
export interface Checkout {
  readonly client: PoolClient;
  /** Notes that the connection prepares a statement of this name, or has done so. */
  prepares(name: string): void;
  /** Why the connection broke, if it has done so since the checkout. */
  lost(): Error | undefined;
  /** Has Postgres cancel what the connection runs. It must then be released, and is closed. */
  cancel(): void;
  /**
   * Gives the client back. Closes its connection if that is broken or holds too many prepared statements, if a statement
   * was cancelled, or if `discard` is true.
   */
  release(discard?: boolean): void;
}

/**
 * Checks a client out. It always has an `error` listener: without one, a killed backend would end the process.
 * @param signal aborts when nobody waits for the client's work any more
 * @throws GivenUpError if it has aborted by then; a NotConnectedError, a SetupError or a transient failure if there is no
 * connection
 */
export function checkOut(pool: Pool, signal?: AbortSignal): Promise<Checkout> {
  return new Promise((resolve, reject) => {
    // With a callback, since the pool removes its own listener just before it calls. An error in the same packet as the
    // client's readiness would find no listener if this waited for a promise to resolve.
    pool.connect((error, client) => {
      if (client === undefined) return reject(explainRefusal(error));
      const checkout = watch(client);
      if (!signal?.aborted) return resolve(checkout);
      checkout.release();
      reject(new GivenUpError(abandoned));
    });
  });
}

/** A failure to connect says nothing about the work, whatever its reason. */
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
      const holdsTooMuch = (prepared.get(client)?.size ?? 0) >= mostPrepared;
      const giveBack = () => {
        // The pool adds its own listener before this one is removed.
        client.release(lost ?? (discard || holdsTooMuch || cancelled !== undefined));
        client.off('error', onError);
      };
      if (cancelled === undefined) giveBack();
      else cancelled.then(giveBack);
    },
  };
}
