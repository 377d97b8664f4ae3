/**
 * The error catalogue. Every failure that a request can meet has a code here; `docs/errors.md` lists the same codes.
 * Imports nothing.
 */

export interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
}

export type ProblemCode =
  | 'malformed-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'mutation-gap'
  | 'body-too-large'
  | 'unsupported-media-type'
  | 'too-many-requests'
  | 'internal'
  | 'client-record-lost'
  | 'mutate-endpoint-failed'
  | 'unavailable'
  | 'mutate-endpoint-timeout';

export const catalogue: Readonly<Record<ProblemCode, CatalogueEntry>> = {
  /** The body is not JSON, or not a request of the expected shape. */
  'malformed-request': { status: 400, title: 'The request is malformed' },
  /** `authenticate` did not accept the request. */
  unauthenticated: { status: 401, title: 'Authentication is required' },
  /** The client group, or a client in it, belongs to another user or another group. */
  forbidden: { status: 403, title: 'The client group belongs to somebody else' },
  /** No route has this path. */
  'not-found': { status: 404, title: 'There is nothing at this path' },
  /** The path exists, but not for this method; `Allow` names the right ones. */
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  /** A mutation arrived before the one that precedes it. */
  'mutation-gap': { status: 409, title: 'A mutation is missing before this one' },
  /** The body is larger than the limit. */
  'body-too-large': { status: 413, title: 'The request body is too large' },
  /** The body is not declared as `application/json`. */
  'unsupported-media-type': { status: 415, title: 'The content type must be application/json' },
  /** More requests than are allowed. Retry after the time in `Retry-After`. */
  'too-many-requests': { status: 429, title: 'There are too many requests' },
  /** Something failed that the caller cannot mend. The log has the cause under the request ID. */
  internal: { status: 500, title: 'The server failed' },
  /** The request names a client with applied mutations of which the server has no record. */
  'client-record-lost': { status: 500, title: "The server has lost this client's record" },
  /** The endpoint that pushes are forwarded to could not be reached, or failed. */
  'mutate-endpoint-failed': { status: 502, title: 'The mutate endpoint failed' },
  /** The database cannot serve the request now. Retry after the time in `Retry-After`. */
  unavailable: { status: 503, title: 'The service is temporarily unavailable' },
  /** The endpoint that pushes are forwarded to did not answer in time. */
  'mutate-endpoint-timeout': { status: 504, title: 'The mutate endpoint did not answer in time' },
};

export interface ProblemOptions {
  /** What went wrong for logs; never sent to the caller. */
  readonly cause?: unknown;
  /** Extra response headers, for example `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure with an HTTP status. `detail` is sent to the caller: it holds no SQL, no stack and nobody's data. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return catalogue[this.code].status;
  }
}

/** The server cannot start as configured. The message says what is wrong and what to do. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
