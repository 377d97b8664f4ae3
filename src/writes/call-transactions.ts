import type { PoolClient } from 'pg';
import type { Database, Edges, Statement } from '../db/database.js';
import type { Transact } from '../db/transact.js';
import { Problem } from '../errors.js';
import type { Query } from '../store/idempotency-keys.js';
import { transactWithMutators } from './client/mutator-transactions.js';
import type { TransactFrom } from './mutate.js';

/** A transaction in which calls run. */
export interface CallTransaction<Tx> {
  /** The `tx` that mutators receive. */
  readonly tx: Tx;
  /** Runs Tidemark's own statements in the transaction. Without it, calls cannot have an idempotency key. */
  readonly query?: Query | undefined;
}

/** Returns a function that runs calls in Tidemark's own transactions. */
export function callsOn<Tx>(db: Database, tx: (client: PoolClient) => Tx): TransactFrom<CallTransaction<Tx>> {
  return (work, first, requestID) =>
    transactWithMutators(
      db,
      ({ client, connection }, edges) => {
        const query: Query = async (text, values) => (await connection.query(text, [...values])).rows;
        return work({ tx: tx(client), query, ...edges });
      },
      first,
      requestID,
    );
}

/**
 * Returns a function that runs calls in the application's transactions.
 * @param query runs a statement in such a transaction; without it, `first` must be empty
 */
export function callsThrough<Tx>(
  transact: Transact<Tx>,
  query: ((tx: Tx, text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>) | undefined,
): TransactFrom<CallTransaction<Tx>> {
  return async (work, first) => {
    if (query === undefined && first.length > 0) {
      throw new Problem('malformed-request', 'Idempotency-Key is not supported here');
    }
    return transact(async (tx) => {
      const run = async ({ text, values = [] }: Statement) => [...(await query!(tx, text, values))];
      const rows: Edges['first'][number][] = [];
      for (const statement of first) rows.push(await run(statement));
      const last: Statement[] = [];
      const result = await work({
        tx,
        query: query && ((text, values) => query(tx, text, values)),
        first: rows,
        last: (...statements) => void last.push(...statements),
      });
      for (const statement of last) await run(statement);
      return result;
    });
  };
}
