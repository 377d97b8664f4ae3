import { isTransient, isUniquenessViolation } from '../db/sqlstate.js';

/**
 * Runs work in a transaction, which is kept when the work succeeds, and only then. It may run the work more than once.
 */
export type Transact<Transaction> = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/**
 * Takes for a transaction what may be done once only. Undefined when it has it; else what shows that it was done
 * before.
 */
export type Claim<Transaction, Done> = (transaction: Transaction) => Promise<Done | undefined>;

export type MutateResult<Result, Done> =
  | { readonly status: 'applied'; readonly result: Result }
  /** The work was not begun. */
  | { readonly status: 'done before'; readonly done: Done }
  /** The work failed for good, and nothing of it was kept. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs mutators in one transaction: every write goes this way.
 *
 * @param run Calls them. It may run more than once: serialization failures and deadlocks are tried again.
 * @param claim Runs first in the transaction.
 * @throws what `claim` throws, and every transient failure. Nothing is kept then, unless the connection was lost at the
 * commit: whether that went through, only `claim` can tell.
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
      // Where two transactions both look for a row and then insert it, REPEATABLE READ fails the second with a
      // violation. Run once more, the mutator sees the first one's row.
      if (attempt > 1 || !isUniquenessViolation(error)) return { status: 'failed', error };
    }
  }
}
