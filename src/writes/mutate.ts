import type { Edges, Statement } from '../db/database.js';
import { isTransient, isUniquenessViolation } from '../db/sqlstate.js';

/**
 * Runs work in a transaction, as `Database.transact` does: the first statements run before the work. The request ID is
 * for whoever looks at the database's sessions.
 */
export type TransactFrom<Transaction> = <T>(
  work: (transaction: Transaction & Edges) => Promise<T>,
  first: readonly Statement[],
  requestID?: string,
) => Promise<T>;

/** Claims, for a transaction, work that may be done only once. */
export interface Claim<Done> {
  /** Run first in the transaction. */
  readonly statements: readonly Statement[];
  /**
   * Takes their rows. Returns undefined if the transaction has the claim, or the record of the work if it was done
   * before.
   */
  readonly take: (rows: Edges['first']) => Done | undefined;
}

/** What became of the work. */
export type MutateResult<Result, Done> =
  | { readonly status: 'applied'; readonly result: Result }
  /** The work was not started. */
  | { readonly status: 'done before'; readonly done: Done }
  /** The work failed permanently, and was rolled back. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs mutators in one transaction. Every write takes this path, but for mutations that share a transaction.
 *
 * @param run calls the mutators. It may run more than once: serialization failures and deadlocks are retried.
 * @param claim runs first in the transaction
 * @throws what `claim` throws, and every transient failure. Nothing is committed then, unless the connection was lost
 * during the commit: only `claim` can tell whether that succeeded.
 */
export async function mutate<Transaction, Result, Done = never>(
  transact: TransactFrom<Transaction>,
  run: (transaction: Transaction & Edges) => Result | Promise<Result>,
  claim?: Claim<Done>,
): Promise<MutateResult<Result, Done>> {
  for (let attempt = 1; ; attempt++) {
    let claimed = false;
    try {
      return await transact<MutateResult<Result, Done>>(async (transaction) => {
        claimed = false;
        const done = claim?.take(transaction.first);
        if (done !== undefined) return { status: 'done before', done };
        claimed = true;
        return { status: 'applied', result: await run(transaction) };
      }, claim?.statements ?? []);
    } catch (error) {
      if (!claimed || isTransient(error)) throw error;
      // If two transactions both look for a row and then insert it, REPEATABLE READ fails the second with a uniqueness
      // violation. If it runs again, the mutator sees the first one's row.
      if (attempt > 1 || !isUniquenessViolation(error)) return { status: 'failed', error };
    }
  }
}
