import type { PoolClient } from 'pg';
import { effectOf } from './effects.js';
import { NestedTransactions, type Step } from './nested-transactions.js';
import { isPlain } from './plain-statements.js';
import { isSubmittable, refuse, send, textOf, withoutName, withText } from './query-arguments.js';

/** A statement was not sent, because it could affect the other mutations in its transaction. */
class NotPlainError extends Error {
  override readonly name = 'NotPlainError';

  constructor() {
    super('Other mutations share this transaction, which this statement could change; it will run without them');
  }
}

/** A mutator tried to end or change its transaction, or left a nested transaction open. */
class TransactionControlError extends Error {
  override readonly name = 'TransactionControlError';
}

const noneBegun = 'A mutator cannot end its transaction, only those that it has begun in it: Tidemark commits it';
const leftOpen = 'The mutator left a transaction open that it had begun. Perhaps it did not await something';
const notGivenAsText = 'BEGIN, COMMIT and ROLLBACK must be given to the client as text';
const over = 'The transaction of this mutator is over. A mutator must await all that it does with it';

/** The characteristics of every mutator transaction, which replace those that a mutator requests. */
const characteristics = 'set transaction isolation level repeatable read';

/**
 * The database client of one transaction's mutators. They can use it like a connection of their own. A transaction that
 * they begin becomes a savepoint, and they cannot end the transaction itself. Tracks the effects of their statements.
 */
export class MutatorClient {
  /** The client for mutators. It sends statements only while the transaction is open. */
  readonly client: PoolClient;
  /** The connection itself, for Tidemark's own statements. */
  readonly connection: PoolClient;
  readonly #nested = new NestedTransactions();
  #allowed: 'all' | 'plain' | 'none' = 'all';
  #isPlain = true;
  #mayLast = false;
  #hasFailed = false;
  #refusal: Error | undefined;

  constructor(connection: PoolClient) {
    this.connection = connection;
    const query = (...args: unknown[]) => this.#query(args);
    const release = () => {};
    const end = async (done?: () => void) => done?.();
    // Some libraries treat the client as a pool, and request a client for each transaction.
    const connect = async (done?: (error: undefined, client: PoolClient, release: () => void) => void) => {
      done?.(undefined, this.client, release);
      return this.client;
    };
    this.client = Object.assign(Object.create(connection), { query, release, end, connect });
  }

  /** True if all statements so far were plain. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  /** True if a statement may have changed the connection's state beyond the end of the transaction. */
  get mayLast(): boolean {
    return this.#mayLast;
  }

  /**
   * True if the transaction can continue: it is open, and the last statement that ended did not fail. The status alone
   * does not suffice, because the driver rejects a query before it receives the transaction's new status.
   */
  get isSound(): boolean {
    return !this.#hasFailed && this.connection.getTransactionStatus() === 'T';
  }

  /** @throws if the transaction must not be committed, even if a mutator caught the refusal of a statement */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    // If the transaction has failed, its own error is the reason, and may be transient.
    if (this.#nested.areOpen && this.isSound) throw new TransactionControlError(leftOpen);
  }

  /** Refuses further statements that are not plain. */
  restrict(): void {
    this.#allowed = 'plain';
  }

  /** Refuses all further statements, because the transaction is about to end. */
  close(): void {
    this.#allowed = 'none';
  }

  #query(args: readonly unknown[]): unknown {
    const [statement] = args;
    if (this.#allowed === 'none') return refuse(args, new TransactionControlError(over));
    if (isPlain(statement) && (this.#isPlain || this.#allowed === 'all')) return this.#send(args);
    this.#isPlain = false;
    if (this.#allowed === 'plain') return this.#refuse(args, new NotPlainError());
    const effect = effectOf(textOf(statement));
    if (effect.kind === 'other') {
      this.#mayLast ||= effect.mayLast;
      return this.#send(args);
    }
    if (effect.kind === 'forbidden') return this.#refuse(args, new TransactionControlError(effect.reason));
    if (isSubmittable(statement)) return this.#refuse(args, new TransactionControlError(notGivenAsText));
    if (effect.kind === 'characteristics') return this.#send(withText(args, characteristics));
    const step = this.#nested[effect.kind]();
    if (step === undefined) return this.#refuse(args, new TransactionControlError(noneBegun));
    return this.#send(withText(args, step.text), step);
  }

  #send(args: readonly unknown[], step?: Step): unknown {
    return send(this.connection, withoutName(args), (error) => {
      this.#hasFailed = error !== null;
      if (step === undefined) return;
      if (this.#hasFailed) this.#nested.fail(step);
      else if (step.followUp !== undefined) this.connection.query(step.followUp).catch(() => {});
    });
  }

  #refuse(args: readonly unknown[], error: Error): unknown {
    this.#refusal ??= error;
    return refuse(args, error);
  }
}
