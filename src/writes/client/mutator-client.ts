import type { PoolClient } from 'pg';
import { effectOf } from './effects.js';
import { NestedTransactions, type Step } from './nested-transactions.js';
import { isPlain } from './plain-statements.js';
import { isSubmitted, refuse, send, textOf, withoutName, withText } from './query-forms.js';

/** A statement was not sent: other mutations share its transaction. */
class NotPlainError extends Error {
  override readonly name = 'NotPlainError';

  constructor() {
    super('Other mutations share this transaction, which this statement could change; it will run without them');
  }
}

/** A statement was not sent, or a transaction was left open: a mutator must not do that to its transaction. */
class TransactionControlError extends Error {
  override readonly name = 'TransactionControlError';
}

const noneBegun = 'A mutator cannot end its transaction, only those that it has begun in it: Tidemark commits it';
const leftOpen = 'The mutator left a transaction open that it had begun. Perhaps it did not await something';
const submitted = 'BEGIN, COMMIT and ROLLBACK must be given to the client as text';
const over = 'The transaction of this mutator is over. A mutator must await all that it does with it';

/** What every transaction of mutators has, in place of what was asked for. */
const characteristics = 'set transaction isolation level repeatable read';

/**
 * The client of one transaction, as its mutators get it. They may use it as if it were theirs alone: a transaction that
 * they begin is a savepoint, and they cannot end the transaction itself. Watches what their statements do.
 */
export class MutatorClient {
  /** For the mutators. Stands for the connection as long as the transaction is open. */
  readonly client: PoolClient;
  /** The connection itself, for Tidemark's own statements. */
  readonly own: PoolClient;
  readonly #nested = new NestedTransactions();
  #allowed: 'all' | 'plain' | 'none' = 'all';
  #isPlain = true;
  #mayLast = false;
  #hasFailed = false;
  #refusal: Error | undefined;

  constructor(own: PoolClient) {
    this.own = own;
    const query = (...args: unknown[]) => this.#query(args);
    const release = () => {};
    const end = async (done?: () => void) => done?.();
    // Some libraries take it for a pool, and want a client for each transaction.
    const connect = async (done?: (error: undefined, client: PoolClient, release: () => void) => void) => {
      done?.(undefined, this.client, release);
      return this.client;
    };
    this.client = Object.assign(Object.create(own), { query, release, end, connect });
  }

  /** Whether all statements so far were plain. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  /** Whether a statement may have changed the connection for longer than the transaction. */
  get mayLast(): boolean {
    return this.#mayLast;
  }

  /**
   * Whether the transaction can go on: it is open, and no statement has failed since the last one that succeeded. The
   * driver rejects a query before it learns what became of the transaction.
   */
  get isSound(): boolean {
    return !this.#hasFailed && this.own.getTransactionStatus() === 'T';
  }

  /** @throws if the transaction must not be committed, whatever the mutators made of a refusal. */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    // If the transaction has failed, that is the reason, and perhaps a passing one.
    if (this.#nested.areOpen && this.isSound) throw new TransactionControlError(leftOpen);
  }

  /** From now on, sends no statement that is not plain. */
  restrict(): void {
    this.#allowed = 'plain';
  }

  /** From now on, sends no statement: the transaction is about to end. */
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
    if (isSubmitted(statement)) return this.#refuse(args, new TransactionControlError(submitted));
    if (effect.kind === 'characteristics') return this.#send(withText(args, characteristics));
    const step = this.#nested[effect.kind]();
    if (step === undefined) return this.#refuse(args, new TransactionControlError(noneBegun));
    return this.#send(withText(args, step.text), step);
  }

  #send(args: readonly unknown[], { further, failed }: Partial<Step> = {}): unknown {
    return send(this.own, withoutName(args), (error) => {
      this.#hasFailed = error !== null;
      if (this.#hasFailed) failed?.();
      else if (further !== undefined) this.own.query(further).catch(() => {});
    });
  }

  #refuse(args: readonly unknown[], error: Error): unknown {
    this.#refusal ??= error;
    return refuse(args, error);
  }
}
