/**
 * Which failures pass by themselves. Everything else is for good: the same work would fail the same way again.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */

/** A connection was lost while work went on: whatever the work itself threw, the loss is why it failed. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

const retryableStates = new Set(['40001', '40P01']);

/** Connection exception, insufficient resources, operator intervention, system error, transaction rollback. */
const transientClasses = new Set(['08', '53', '57', '58', '40']);

const transientStates = new Set([
  '55P03', // lock_not_available
  '55006', // object_in_use
  '25006', // read_only_sql_transaction: the primary has become a standby
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
]);

/** Class 40, but for good: a deferred constraint does not hold. */
const INTEGRITY_VIOLATION_AT_COMMIT = '40002';

const transientSystemErrors = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // The platform's fetch, which a mutator may call.
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** Errors that the driver raises without a code. */
const transientMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable)/;

const MAX_CAUSES = 16;

/** A serialization failure or a deadlock: the same transaction may pass when it is run again at once. */
export function isRetryable(error: unknown): boolean {
  return someCause(error, (code) => retryableStates.has(code));
}

/** The database, or the way to it, cannot do the work now; nothing says that the work is wrong. */
export function isTransient(error: unknown): boolean {
  return someCause(
    error,
    (code) =>
      transientStates.has(code) ||
      transientSystemErrors.has(code) ||
      (code.length === 5 && code !== INTEGRITY_VIOLATION_AT_COMMIT && transientClasses.has(code.slice(0, 2))),
    (cause) => cause instanceof ConnectionLostError || transientMessages.test(cause.message),
  );
}

/** Another row has the same values already. */
export function isUniquenessViolation(error: unknown): boolean {
  return someCause(error, (code) => code === '23505' || code === '23P01');
}

const stalePlanStates = new Set(['0A000', '26000', '42P05']);

/**
 * A named statement's plan no longer fits (after DDL), or is on another server connection (behind a pooler in
 * transaction mode): it may be run once more without a name.
 */
export function isStalePlan(error: unknown): boolean {
  return stalePlanStates.has(codeOf(error) ?? '');
}

/** The statement was ended before its time, as one is that takes longer than it may. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** A type has no operator, or no function, that the statement asks of it. */
export function isWithoutOperator(error: unknown): error is Error {
  return codeOf(error) === '42883';
}

/** A value is not one that a function, a type or a constraint takes: with others, the same statement may pass. */
export function isOfValues(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '');
}

/** A text is not one that can be read as a date or time. */
export function isOfMoments(error: unknown): boolean {
  return codeOf(error) === '22007';
}

/** The SQLSTATE, or a system error's code, of the error itself. */
export function codeOf(error: unknown): string | undefined {
  const code = read(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** Walks the chain of causes: query builders wrap the driver's errors. What is thrown can be anything at all. */
function someCause(
  error: unknown,
  byCode: (code: string) => boolean,
  byError: (error: Error) => boolean = () => false,
): boolean {
  let cause = error;
  for (let i = 0; i < MAX_CAUSES && cause != null; i++) {
    const code = codeOf(cause);
    if (code !== undefined ? byCode(code) : isError(cause) && byError(cause)) return true;
    cause = read(cause, 'cause');
  }
  return false;
}

function isError(value: unknown): value is Error {
  return value instanceof Error && typeof read(value, 'message') === 'string';
}

function read(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}
