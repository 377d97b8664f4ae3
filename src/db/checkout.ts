import type { Pool, PoolClient } from 'pg';

/** A client of the pool, for one use. */
export interface Checkout {
  readonly client: PoolClient;
  /** Why the connection broke, if it has since it was checked out. */
  lost(): Error | undefined;
  /** Gives the client back; a broken one, or with `discard` a sound one, has its connection closed. */
  release(discard?: boolean): void;
}

/** Checks a client out. It has an `error` listener all the while: without one, a killed backend ends the process. */
export function checkOut(pool: Pool): Promise<Checkout> {
  return new Promise((resolve, reject) => {
    // By callback, since the pool stops listening just before it calls: an error that came in with the same packet as
    // the client's readiness would find no listener by the time that a promise is resolved.
    pool.connect((error, client) => {
      if (client === undefined) reject(error);
      else resolve(watch(client));
    });
  });
}

function watch(client: PoolClient): Checkout {
  let lost: Error | undefined;
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  return {
    client,
    lost: () => lost,
    release(discard = false) {
      // The pool listens again before our listener goes.
      client.release(lost ?? discard);
      client.off('error', onError);
    },
  };
}
