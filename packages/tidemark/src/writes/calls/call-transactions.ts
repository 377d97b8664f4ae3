import type { PoolClient } from 'pg';
import type { Database, Edges, Statement } from '../../db/database.js';
import type { Transact } from '../../db/transact.js';
import { Problem } from '../../errors.js';
import type { Query } from '../../store/idempotency-keys.js';
import type { MutatorClient } from '../client/mutator-client.js';
import { transactWithMutators } from '../client/mutator-transactions.js';
import type { Transactions } from '../mutate.js';

/** A transaction in which calls run. */
export interface CallTransaction<Tx> {
  /** The `tx` that mutators receive. */
  readonly tx: Tx;
  /** Runs Tidemark's own statements in the transaction. Without it, calls cannot have an idempotency key. */
  readonly query?: Query | undefined;
}

/** Tidemark's own transactions. */
export class OwnTransactions<Tx> implements Transactions<CallTransaction<Tx>> {
  readonly #db: Database;
  readonly #tx: (client: PoolClient) => Tx;
  readonly #notifier: { wake(): void } | undefined;

  /**
   * @param tx maps the transaction's client to the `tx` that mutators receive
   * @param notifier woken after each transaction
   */
  constructor(db: Database, tx: (client: PoolClient) => Tx, notifier?: { wake(): void }) {
    this.#db = db;
    this.#tx = tx;
    this.#notifier = notifier;
  }

  async transact<T>(
    work: (transaction: CallTransaction<Tx> & Edges) => Promise<T>,
    first: readonly Statement[],
    requestID?: string,
  ): Promise<T> {
    const workWith = ({ client, connection }: MutatorClient, edges: Edges) => {
      const query: Query = async (text, values) => (await connection.query(text, [...values])).rows;
      return work({ tx: this.#tx(client), query, ...edges });
    };
    try {
      return await transactWithMutators(this.#db, workWith, first, requestID);
    } finally {
      this.#notifier?.wake();
    }
  }
}

/** Runs a statement in a transaction of the application. */
export type ApplicationQuery<Tx> = (tx: Tx, text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>;

/** The application's transactions. */
export class ApplicationTransactions<Tx> implements Transactions<CallTransaction<Tx>> {
  readonly #transact: Transact<Tx>;
  readonly #query: ApplicationQuery<Tx> | undefined;

  /** @param query without it, `first` must be empty */
  constructor(transact: Transact<Tx>, query: ApplicationQuery<Tx> | undefined) {
    this.#transact = transact;
    this.#query = query;
  }

  async transact<T>(
    work: (transaction: CallTransaction<Tx> & Edges) => Promise<T>,
    first: readonly Statement[],
  ): Promise<T> {
    const transact = this.#transact;
    const query = this.#query;
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
        last,
      });
      for (const statement of last) await run(statement);
      return result;
    });
  }
}
