/**
 * Decides which failures are transient. All others are permanent: the same work would fail in the same way again.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */

/** A connection was lost during the work. The loss caused the failure, whatever error the work itself threw. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/**
 * No connection could be opened, for a reason that waiting does not fix, such as a role without LOGIN or a missing
 * database. The work has not begun.
 */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
  readonly code: string | undefined;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.code = codeOf(cause);
  }
}

/** Work in the database was abandoned: it took too long, or its result was no longer needed. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
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

/** In class 40, but permanent: the transaction violates a deferred constraint. */
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
  // Errors of the platform's fetch, which a mutator may call.
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const transientErrors = [ConnectionLostError, NotConnectedError, GivenUpError];

/** Errors that the driver raises without a code. */
const transientMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable)/;

const maxCauses = 16;

/** True for a serialization failure or a deadlock: the same transaction may succeed if it runs again immediately. */
export function isRetryable(error: unknown): boolean {
  return someCause(error, (code) => retryableStates.has(code));
}

/** True if the database or the connection to it cannot do the work now, and nothing suggests that the work is wrong. */
export function isTransient(error: unknown): boolean {
  return someCause(
    error,
    (code) =>
      transientStates.has(code) ||
      transientSystemErrors.has(code) ||
      (code.length === 5 && code !== INTEGRITY_VIOLATION_AT_COMMIT && transientClasses.has(code.slice(0, 2))),
    (cause) =>
      transientErrors.some((type) => cause instanceof type) ||
      (codeOf(cause) === undefined && transientMessages.test(cause.message)),
  );
}

/** True if a lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return someCause(error, (code) => code === '55P03');
}

/** True if another row already has the same values. */
export function isUniquenessViolation(error: unknown): boolean {
  return someCause(error, (code) => code === '23505' || code === '23P01');
}

/** Violations caused by other rows: with those rows removed or added, the same values would be valid. */
const conflictStates = new Set([
  '23000', // integrity_constraint_violation
  '23001', // restrict_violation
  '23503', // foreign_key_violation
  '23505', // unique_violation
  '23P01', // exclusion_violation
  INTEGRITY_VIOLATION_AT_COMMIT,
]);

/** True if the database rejects rows because of others: a value is taken, or a row is referenced or missing. */
export function isConflict(error: unknown): boolean {
  return someCause(error, (code) => conflictStates.has(code));
}

/** True if the database rejects the values themselves: NULL, a violated check, or a value invalid for its type. */
export function isOfWrittenValues(error: unknown): boolean {
  return someCause(error, (code) => /^22[0-9A-Z]{3}$|^23502$|^23514$/.test(code));
}

/** True if the plan of a named statement no longer fits after DDL. The statement can run once more without a name. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000';
}

/**
 * True if the name of a statement is missing or taken on a connection, or belongs to another statement. The session is
 * then not the one in which the statement was prepared.
 */
export function isOfStatementName(error: unknown): boolean {
  const code = codeOf(error);
  return code === '26000' || code === '42P05' || (code === '08P01' && !endsConnection(error));
}

/** True if the sender of the error has closed the connection. */
export function endsConnection(error: unknown): boolean {
  return read(error, 'severity') === 'FATAL';
}

/** True if the statement was cancelled, for example because it exceeded its time limit. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** True if `tidemark.row_format_of` or `tidemark.unclear_image` cannot determine what a logged row was. */
export function isOfRowFormats(error: unknown): boolean {
  return codeOf(error) === 'TM001';
}

/** True if a value cannot be computed, because it does not fit its type or domain, say. Other values may work. */
export function isOfValue(error: unknown): boolean {
  return /^(22|23|0A)/.test(codeOf(error) ?? '');
}

/** True if the statement did not run because an earlier one in the transaction has failed. */
export function isOfFailedTransaction(error: unknown): boolean {
  return codeOf(error) === '25P02';
}

/** True if the role lacks a privilege. */
export function isOfPrivileges(error: unknown): boolean {
  return codeOf(error) === '42501';
}

/** True if the statement needs an operator or a function that a type does not have. */
export function isWithoutOperator(error: unknown): error is Error {
  return codeOf(error) === '42883';
}

/** True if a function, a type or a constraint rejects a value. With other values, the same statement may succeed. */
export function isOfValues(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '');
}

/** True if a text cannot be read as a date or time. */
export function isOfDateTimes(error: unknown): boolean {
  return codeOf(error) === '22007';
}

/** Returns the SQLSTATE or system error code of the error itself, not of its causes. */
export function codeOf(error: unknown): string | undefined {
  // Prisma's adapters translate codes, and keep the original ones.
  const code = read(error, 'originalCode') ?? read(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** Checks an error and its causes, because query builders wrap the driver's errors. Any value can have been thrown. */
function someCause(
  error: unknown,
  byCode: (code: string) => boolean,
  byError: (error: Error) => boolean = () => false,
): boolean {
  let cause = error;
  for (let i = 0; i < maxCauses && cause != null; i++) {
    const code = codeOf(cause);
    if ((code !== undefined && byCode(code)) || (isError(cause) && byError(cause))) return true;
    cause = causeOf(cause);
  }
  return false;
}

function causeOf(error: unknown): unknown {
  // Prisma's errors show nowhere else what the database answered.
  return read(error, 'cause') ?? read(read(error, 'meta'), 'driverAdapterError');
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
