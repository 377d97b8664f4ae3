import type { Edges, Statement } from '../db/database.js';
import { isTransient, isUniquenessViolation } from '../db/sqlstate.js';

/** The transactions in which mutators run. */
export interface Transactions<Transaction> {
  /**
   * Runs work in a transaction, as `Database.transact` does. The `first` statements run before the work. The request ID
   * identifies the request in `pg_stat_activity`.
   */
  transact<T>(
    work: (transaction: Transaction & Edges) => Promise<T>,
    first: readonly Statement[],
    requestID?: string,
  ): Promise<T>;
}

/** Claims work for a transaction, so that it is done only once. */
export interface Claim<Done> {
  /** The statements that run first in the transaction. */
  readonly statements: readonly Statement[];
  /**
   * Evaluates the rows of the statements. Returns undefined if the transaction holds the claim, or the record of the
   * work if an earlier transaction has done it.
   */
  take(rows: Edges['first']): Done | undefined;
}

/** The outcome of the work. */
export type MutateResult<Result, Done> =
  | { readonly status: 'applied'; readonly result: Result }
  /** The work was not started. */
  | { readonly status: 'done before'; readonly done: Done }
  /** The work failed permanently, and was rolled back. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs mutators in one transaction. All mutators run here, except those of a batch.
 *
 * @param run calls the mutators. It may run more than once, because serialization failures and deadlocks are retried.
 * @param claim runs first in the transaction
 * @throws the errors of `claim`, and every transient failure. Nothing is committed then, unless the connection was lost
 * during the commit. In that case, only a new `claim` can determine whether the commit succeeded.
 */
export async function mutate<Transaction, Result, Done = never>(
  transactions: Transactions<Transaction>,
  run: (transaction: Transaction & Edges) => Result | Promise<Result>,
  requestID?: string,
  claim?: Claim<Done>,
): Promise<MutateResult<Result, Done>> {
  for (let attempt = 1; ; attempt++) {
    let claimed = false;
    const work = async (transaction: Transaction & Edges): Promise<MutateResult<Result, Done>> => {
      claimed = false;
      const done = claim?.take(transaction.first);
      if (done !== undefined) return { status: 'done before', done };
      claimed = true;
      return { status: 'applied', result: await run(transaction) };
    };
    try {
      return await transactions.transact(work, claim?.statements ?? [], requestID);
    } catch (error) {
      if (!claimed || isTransient(error)) throw error;
      // If two transactions both look for a row and then insert it, the second fails with a uniqueness violation under
      // REPEATABLE READ. When it is retried, its mutator sees the row that the first one inserted.
      if (attempt > 1 || !isUniquenessViolation(error)) return { status: 'failed', error };
    }
  }
}
