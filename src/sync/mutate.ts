import type { ClientBase, PoolClient } from 'pg';
import type { Database } from '../db/database.js';
import { codeOf, isTransient } from '../db/sqlstate.js';
import type { Mutator } from '../registry/mutators.js';

/** Where mutators write, and the form in which they get the transaction. */
export interface WritePath<Tx> {
  readonly db: Database;
  readonly tx: (client: PoolClient) => Tx;
}

export type MutateResult =
  | { readonly status: 'applied' }
  /** `claim` said no: the mutator was not called. */
  | { readonly status: 'declined' }
  /** The mutator failed for good, and nothing of it was kept. */
  | { readonly status: 'failed'; readonly error: unknown };

/**
 * Runs one mutator in one transaction: every write goes this way. `call.args` have passed the mutator's validator.
 * The mutator may run more than once: serialization failures and deadlocks are tried again.
 *
 * @param claim Runs first in the transaction; the mutator runs only if it returns true.
 * @throws what `claim` throws, and every transient failure. Nothing is kept then, unless the connection was lost at the
 * commit: whether that went through, only `claim` can tell.
 */
export async function mutate<Tx, Context>(
  { db, tx }: WritePath<Tx>,
  mutator: Mutator<Tx, Context>,
  call: { readonly args: unknown; readonly ctx: Context },
  claim?: (client: ClientBase) => Promise<boolean>,
): Promise<MutateResult> {
  for (let attempt = 1; ; attempt++) {
    let claimed = false;
    try {
      const status = await db.transact(async (client) => {
        claimed = false;
        if (claim !== undefined && !(await claim(client))) return 'declined';
        claimed = true;
        await mutator.run({ tx: tx(client), args: call.args, ctx: call.ctx });
        return 'applied';
      });
      return { status };
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
