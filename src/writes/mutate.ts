import { isTransient, isUniquenessViolation } from '../db/sqlstate.js';
import type { Transact } from '../db/transact.js';

/**
 * Claims, for a transaction, work that may be done only once. Returns undefined if the transaction has the claim, or
 * the record of the work if it was done before.
 */
export type Claim<Transaction, Done> = (transaction: Transaction) => Promise<Done | undefined>;

/** What became of the work. */
export type MutateResult<Result, Done> =
  | { readonly status: 'applied'; readonly result: Result }
  /** The work was not started. */
  | { readonly status: 'done before'; readonly done: Done }
  /** The work failed permanently, and was rolled back. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs mutators in one transaction. Every write takes this path.
 *
 * @param run calls the mutators. It may run more than once: serialization failures and deadlocks are retried.
 * @param claim runs first in the transaction
 * @throws what `claim` throws, and every transient failure. Nothing is committed then, unless the connection was lost
 * during the commit: only `claim` can tell whether that succeeded.
 */
export async function mutate<Transaction, Result, Done = never>(
  transact: Transact<Transaction>,
  run: (transaction: Transaction) => Result | Promise<Result>,
  claim: Claim<Transaction, Done> = async () => undefined,
): Promise<MutateResult<Result, Done>> {
  for (let attempt = 1; ; attempt++) {
    let claimed = false;
    try {
      return await transact<MutateResult<Result, Done>>(async (transaction) => {
        claimed = false;
        const done = await claim(transaction);
        if (done !== undefined) return { status: 'done before', done };
        claimed = true;
        return { status: 'applied', result: await run(transaction) };
      });
    } catch (error) {
      if (!claimed || isTransient(error)) throw error;
      // If two transactions both look for a row and then insert it, REPEATABLE READ fails the second with a uniqueness
      // violation. If it runs again, the mutator sees the first one's row.
      if (attempt > 1 || !isUniquenessViolation(error)) return { status: 'failed', error };
    }
  }
}
