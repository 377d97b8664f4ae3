import type { PoolClient } from 'pg';

const reading = /^\s*(select|insert|update|delete|merge|with|values)\b/i;
/** Another statement after the first; a setting. */
const lasting = /;(?!\s*$)|\bset_config\b/i;

/**
 * Whether a statement, as it is given to the driver, does nothing to its transaction but read and write rows. What ends
 * the transaction, changes its settings or its constraints, or creates anything in it, is not plain. Neither is what
 * cannot be told: statements after a comment, COPY, cursors.
 */
export function isPlain(statement: unknown): boolean {
  const text = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : statement;
  return typeof text === 'string' && reading.test(text) && !lasting.test(text) && !isSubmitted(statement);
}

/** A statement was not sent: other mutations share its transaction. */
class NotPlainError extends Error {
  override readonly name = 'NotPlainError';

  constructor() {
    super('Other mutations share this transaction, which this statement could change; it will run without them');
  }
}

/** The client of a transaction that mutations share. */
export interface SharedClient {
  /** For the mutators. Stands for the client as long as the transaction is open. */
  readonly client: PoolClient;
  /** Whether all statements so far were plain. */
  readonly isPlain: () => boolean;
  /**
   * Whether a statement has failed, and the transaction with it, while all were plain. The driver rejects a query before
   * it learns what became of the transaction.
   */
  readonly hasFailed: () => boolean;
  /** From now on, sends no statement that is not plain. */
  readonly restrict: () => void;
  /** From now on, sends no statement: the transaction is about to end. */
  readonly close: () => void;
}

/** Watches the statements that mutators send. */
export function shareClient(client: PoolClient): SharedClient {
  let plain = true;
  let failed = false;
  let allowed: 'all' | 'plain' | 'none' = 'all';
  const query = (...args: unknown[]): unknown => {
    const [statement] = args;
    plain &&= isPlain(statement);
    if (allowed !== 'all' && !(allowed === 'plain' && plain)) return refuse(args);
    const result: unknown = Reflect.apply(client.query, client, args);
    if (plain && result instanceof Promise) {
      result.catch(() => {
        failed = true;
      });
    }
    return result;
  };
  return {
    client: Object.create(client, { query: { value: query } }),
    isPlain: () => plain,
    hasFailed: () => failed,
    restrict: () => {
      allowed = 'plain';
    },
    close: () => {
      allowed = 'none';
    },
  };
}

/** Fails a query in each of the ways that the driver knows. */
function refuse(args: readonly unknown[]): unknown {
  const error = new NotPlainError();
  const [statement] = args;
  const callback = args.find((arg) => typeof arg === 'function') as ((error: Error) => void) | undefined;
  if (isSubmitted(statement)) {
    process.nextTick(() => statement.handleError(error));
    return statement;
  }
  if (callback === undefined) return Promise.reject(error);
  process.nextTick(callback, error);
  return undefined;
}

/** A query that sends itself, such as a cursor or a stream. */
interface Submitted {
  readonly submit: unknown;
  handleError(error: Error): void;
}

function isSubmitted(statement: unknown): statement is Submitted {
  return typeof statement === 'object' && statement !== null && 'submit' in statement;
}
