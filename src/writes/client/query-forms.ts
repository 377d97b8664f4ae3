/** The forms in which the driver takes a query: a text or an object, with a callback or a promise, or one that sends itself. */
import type { PoolClient } from 'pg';

/** A query that sends itself, such as a cursor or a stream. */
interface Submitted {
  readonly submit: unknown;
  handleError(error: Error): void;
}

export function isSubmitted(statement: unknown): statement is Submitted {
  return typeof statement === 'object' && statement !== null && 'submit' in statement;
}

/** The text of a statement; undefined for one that only names what was prepared before. */
export function textOf(statement: unknown): string | undefined {
  const text = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : statement;
  return typeof text === 'string' ? text : undefined;
}

/** The same query with another text. */
export function withText([statement, ...others]: readonly unknown[], text: string): unknown[] {
  return [typeof statement === 'object' ? { ...statement, text, name: undefined } : text, ...others];
}

/**
 * The same query, not prepared under a name if it has one. Through a pooler, the name may stand for nothing, or for
 * another text, on the connection that the transaction is given; that fails the transaction, or worse.
 */
export function withoutName(args: readonly unknown[]): readonly unknown[] {
  const [statement, ...others] = args;
  if (typeof statement !== 'object' || statement === null || isSubmitted(statement)) return args;
  if (!('name' in statement) || textOf(statement) === undefined) return args;
  return [Object.create(statement, { name: { value: undefined } }), ...others];
}

/**
 * Sends a query.
 * @param ended is called before whoever sent the query learns how it ended. The error is null if it succeeded. Not
 * called for a query that sends itself and has no callback.
 */
export function send(client: PoolClient, args: readonly unknown[], ended: (error: unknown) => void): unknown {
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const watched = (error: unknown, result: unknown) => {
      ended(error ?? null);
      callback(error, result);
    };
    return Reflect.apply(client.query, client, [...args.slice(0, -1), watched]);
  }
  const result: unknown = Reflect.apply(client.query, client, args);
  if (result instanceof Promise) result.then(() => ended(null), ended);
  return result;
}

/** Fails a query, without sending it, in the way in which the driver would fail it. */
export function refuse(args: readonly unknown[], error: Error): unknown {
  const [statement] = args;
  const callback = args.at(-1);
  if (isSubmitted(statement)) {
    process.nextTick(() => statement.handleError(error));
    return statement;
  }
  if (typeof callback !== 'function') return Promise.reject(error);
  process.nextTick(callback as (error: Error) => void, error);
  return undefined;
}
