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
export async function checkOut(pool: Pool): Promise<Checkout> {
  const client = await pool.connect();
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
