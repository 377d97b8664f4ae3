/** The arguments of the driver's `query`: a text or an object, with a callback or a promise, or a submittable query. */
import type { PoolClient } from 'pg';

/** A query that sends itself through its `submit` method, such as a cursor or a stream. */
interface SubmittableQuery {
  readonly submit: unknown;
  handleError(error: Error): void;
}

export function isSubmittable(statement: unknown): statement is SubmittableQuery {
  return typeof statement === 'object' && statement !== null && 'submit' in statement;
}

/** Returns the text of a statement; undefined if it only names a prepared statement. */
export function textOf(statement: unknown): string | undefined {
  const text = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : statement;
  return typeof text === 'string' ? text : undefined;
}

/** Returns a query with another text. */
export function withText([statement, ...others]: readonly unknown[], text: string): unknown[] {
  return [typeof statement === 'object' ? { ...statement, text, name: undefined } : text, ...others];
}

/**
 * Returns a query without the name of its prepared statement. Through a pooler, the transaction's connection may have
 * no statement of that name, or a different one. That would fail the transaction, or run the wrong statement.
 */
export function withoutName(args: readonly unknown[]): readonly unknown[] {
  const [statement, ...others] = args;
  if (typeof statement !== 'object' || statement === null || isSubmittable(statement)) return args;
  if (!('name' in statement) || textOf(statement) === undefined) return args;
  return [Object.create(statement, { name: { value: undefined } }), ...others];
}

/**
 * Sends a query.
 * @param onEnd called before the sender receives the result, with the error, or null on success. Not called for a
 * submittable query without a callback.
 */
export function send(client: PoolClient, args: readonly unknown[], onEnd: (error: unknown) => void): unknown {
  const callback = args.at(-1);
  if (typeof callback === 'function') {
    const withNotice = (error: unknown, result: unknown) => {
      onEnd(error ?? null);
      callback(error, result);
    };
    return Reflect.apply(client.query, client, [...args.slice(0, -1), withNotice]);
  }
  const result: unknown = Reflect.apply(client.query, client, args);
  if (result instanceof Promise) result.then(() => onEnd(null), onEnd);
  return result;
}

/** Fails a query without sending it, in the way the driver would. */
export function refuse(args: readonly unknown[], error: Error): unknown {
  const [statement] = args;
  const callback = args.at(-1);
  if (isSubmittable(statement)) {
    process.nextTick(() => statement.handleError(error));
    return statement;
  }
  if (typeof callback !== 'function') return Promise.reject(error);
  process.nextTick(callback as (error: Error) => void, error);
  return undefined;
}
