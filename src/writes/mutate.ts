import { codeOf, isTransient } from '../db/sqlstate.js';

/** Runs work in a transaction, which is kept when the work succeeds, and only then. It may run the work more than once. */
export type Transact<Transaction> = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

export type MutateResult<Result> =
  | { readonly status: 'applied'; readonly result: Result }
  /** `claim` said no: the work was not begun. */
  | { readonly status: 'declined' }
  /** The work failed for good, and nothing of it was kept. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs mutators in one transaction: every write goes this way.
 *
 * @param run Calls them. It may run more than once: serialization failures and deadlocks are tried again.
 * @param claim Runs first in the transaction; `run` follows only if it returns true.
 * @throws what `claim` throws, and every transient failure. Nothing is kept then, unless the connection was lost at the
 * commit: whether that went through, only `claim` can tell.
 */
export async function mutate<Transaction, Result>(
  transact: Transact<Transaction>,
  run: (transaction: Transaction) => Result | Promise<Result>,
  claim?: (transaction: Transaction) => Promise<boolean>,
): Promise<MutateResult<Result>> {
  for (let attempt = 1; ; attempt++) {
    let claimed = false;
    try {
      return await transact<MutateResult<Result>>(async (transaction) => {
        claimed = false;
        if (claim !== undefined && !(await claim(transaction))) return { status: 'declined' };
        claimed = true;
        return { status: 'applied', result: await run(transaction) };
      });
    } catch (error) {
      if (!claimed || isTransient(error)) throw error;
      if (attempt > 1 || !isUniquenessViolation(error)) return { status: 'failed', error };
    }
  }
}

/**
 * Where two transactions both look for a row and then insert it, REPEATABLE READ fails the second with a violation. Run
 * once more, the mutator sees the first one's row.
 */
function isUniquenessViolation(error: unknown): boolean {
  const code = codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined);
  return code === '23505' || code === '23P01';
}
