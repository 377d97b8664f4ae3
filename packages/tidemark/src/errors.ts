/**
 * The error catalogue. It has a code for every way in which a request can fail; `docs/errors.md` lists the same codes.
 * Imports nothing.
 */

/** The catalogue's entry for a code. */
export interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number | undefined;
}

/** The codes of the error catalogue. */
export type ProblemCode =
  | 'malformed-request'
  | 'mutator-name-missing'
  | 'mutator-error'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'unknown-mutator'
  | 'unknown-view'
  | 'unknown-key'
  | 'method-not-allowed'
  | 'mutation-gap'
  | 'conflict'
  | 'idempotency-key-in-flight'
  | 'body-too-large'
  | 'unsupported-media-type'
  | 'invalid-args'
  | 'invalid-values'
  | 'idempotency-key-reused'
  | 'too-many-requests'
  | 'internal'
  | 'client-record-lost'
  | 'mutate-endpoint-failed'
  | 'unavailable'
  | 'mutate-endpoint-timeout';

/** The catalogue: the HTTP status and the title of each code. */
export const catalogue: Readonly<Record<ProblemCode, CatalogueEntry>> = {
  /** The body is not JSON, or not a valid request. */
  'malformed-request': { status: 400, title: 'The request is malformed' },
  /** A call names no mutator. */
  'mutator-name-missing': { status: 400, title: 'A mutator name is required' },
  /** A mutator refused a call on purpose, with a `MutatorError`, which may set another status. */
  'mutator-error': { status: 400, title: 'The mutator refused the call' },
  /** `authenticate` rejected the request. */
  unauthenticated: { status: 401, title: 'Authentication is required' },
  /** The caller is not allowed to do this: the client group, or a client in it, belongs to another user or group. */
  forbidden: { status: 403, title: 'This is not allowed' },
  /** No route has this path. */
  'not-found': { status: 404, title: 'There is nothing at this path' },
  /** No mutator has this name. */
  'unknown-mutator': { status: 404, title: 'There is no mutator of this name' },
  /** No view has this name. */
  'unknown-view': { status: 404, title: 'There is no view of this name' },
  /** The view has no row with this key, for this user. */
  'unknown-key': { status: 404, title: 'The view has no row with this key' },
  /** The path exists, but not for this method; `Allow` lists the methods. */
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  /** A mutation arrived before the one that precedes it. */
  'mutation-gap': { status: 409, title: 'A mutation is missing before this one' },
  /** A mutator's write violates a constraint because of other rows: a value is taken, or a row is still referenced. */
  conflict: { status: 409, title: 'The call conflicts with other data' },
  /** A call with the same `Idempotency-Key` is still running. */
  'idempotency-key-in-flight': { status: 409, title: 'The first call with this key is still running', retryAfter: 1 },
  /** The body is larger than the limit. */
  'body-too-large': { status: 413, title: 'The request body is too large' },
  /** The body is not declared as `application/json`. */
  'unsupported-media-type': { status: 415, title: 'The content type must be application/json' },
  /** The mutator's validator rejected the args; `issues` says where and why. */
  'invalid-args': { status: 422, title: 'The arguments are not valid' },
  /** The database rejected a value that a mutator wrote. */
  'invalid-values': { status: 422, title: 'The database does not accept the values' },
  /** The `Idempotency-Key` was used for a call of another mutator, or with other args. */
  'idempotency-key-reused': { status: 422, title: 'This key was used for another call' },
  /** More requests than are allowed. Retry after the time in `Retry-After`. */
  'too-many-requests': { status: 429, title: 'There are too many requests', retryAfter: 1 },
  /** Something failed that the caller cannot fix. The log has the cause under the request ID. */
  internal: { status: 500, title: 'The server failed' },
  /** The request names a client that has applied mutations, but the server has no record of it. */
  'client-record-lost': { status: 500, title: "The server has lost this client's record" },
  /** The endpoint that receives forwarded pushes is unreachable, or failed. */
  'mutate-endpoint-failed': { status: 502, title: 'The mutate endpoint failed' },
  /** The database cannot serve the request now. Retry after the time in `Retry-After`. */
  unavailable: { status: 503, title: 'The service is temporarily unavailable', retryAfter: 1 },
  /** The endpoint that receives forwarded pushes did not answer in time. */
  'mutate-endpoint-timeout': { status: 504, title: 'The mutate endpoint did not answer in time' },
};

/**
 * Returns the `type` member of an error response, which identifies the code.
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function problemType(code: ProblemCode): string {
  return `urn:problem-type:tidemark:${code}`;
}

/** The options of `Problem`. */
export interface ProblemOptions {
  /** The underlying error, for the log. Never sent to the caller. */
  readonly cause?: unknown;
  /** Extra response headers, for example `Allow`. `Retry-After` comes from the catalogue. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The HTTP status. Default: the catalogue's. */
  readonly status?: number | undefined;
  /** More members of the response, as RFC 9457 allows. JSON values, sent to the caller. Default: none. */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

/** A failure with an HTTP status. Callers receive `detail`, so it must not contain SQL, a stack or users' data. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, detail: string, { cause, headers, status, extensions }: ProblemOptions = {}) {
    super(detail, { cause });
    const entry = catalogue[code];
    this.code = code;
    this.status = status ?? entry.status;
    this.headers = { ...(entry.retryAfter !== undefined && { 'Retry-After': String(entry.retryAfter) }), ...headers };
    this.extensions = extensions ?? {};
  }
}

/** Statuses that clients and proxies take for a problem with the connection: they may send the request again. */
const statusesOfConnections: readonly number[] = [407, 408, 421];

/** The options of `MutatorError`. */
export interface MutatorErrorOptions {
  /** From 400 to 499, except 407, 408 and 421, which are about connections. Default 400. */
  readonly status?: number | undefined;
  /** A JSON value for the caller. Default: none. */
  readonly details?: unknown;
  /** The underlying error. Never sent to the caller. */
  readonly cause?: unknown;
}

/**
 * A mutator throws this to refuse a call on purpose. The server rolls back everything that the call wrote. A REST
 * caller receives the message and the details; a sync client's mutation is skipped.
 */
export class MutatorError extends Error {
  override readonly name = 'MutatorError';
  readonly status: number;
  readonly details: unknown;

  /** @throws RangeError for a status that is not allowed. */
  constructor(message: string, { status = 400, details, cause }: MutatorErrorOptions = {}) {
    super(message, { cause });
    if (!Number.isInteger(status) || status < 400 || status > 499 || statusesOfConnections.includes(status)) {
      throw new RangeError('The status of a MutatorError must be from 400 to 499, but not 407, 408 or 421');
    }
    this.status = status;
    this.details = details;
  }
}

/**
 * Maps an application's own errors: returns the refusal to send to the caller, or undefined for the default treatment.
 * The argument is the error that a mutator threw, or that the database reported when the mutator's transaction
 * committed. The server may call this more than once for a call.
 */
export type MapError = (error: unknown) => MutatorError | Problem | undefined;

/** An error in the setup, for example of the database or a view. The message says what is wrong and what to do. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
