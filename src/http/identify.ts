import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import { isStorableText } from '../protocol/fields.js';
import type { Exchange } from './route.js';

/**
 * Returns who sent a request, or null for a 401 response. It must not read the body. If it throws a Problem, that is
 * the response; anything else that it throws is an internal error.
 */
export type Authenticate<Context extends UserContext> = (request: Request) => Context | null | Promise<Context | null>;

/** Who sent a request, and how to log it. */
export interface Caller<Context extends UserContext = UserContext> {
  /** What `authenticate` returned. */
  readonly context: Context;
  readonly requestID: string;
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
  /** Returns what aborts when the client goes away. Few requests need it, and it takes time to create. */
  readonly signal?: () => AbortSignal;
}

/**
 * Has `authenticate` say who sent a request.
 * @throws Problem `unauthenticated`; TypeError if `authenticate` read the body or returned an unusable context; and
 * whatever `authenticate` throws.
 */
export async function identify<Context extends UserContext>(
  { request, requestID, log }: Exchange,
  authenticate: Authenticate<Context>,
): Promise<Caller<Context>> {
  const context = await authenticate(request);
  if (context === null) {
    throw new Problem('unauthenticated', 'The request has no valid authorization', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  if (request.bodyUsed) throw new TypeError('authenticate, and middleware before it, must not read the body');
  const { userID, expiresAt } = context;
  // Otherwise the database could take two different users for one.
  if (typeof userID !== 'string' || userID === '' || !isStorableText(userID)) {
    throw new TypeError('authenticate must return null or an object whose userID is a non-empty, well-formed string');
  }
  if (expiresAt !== undefined && !(expiresAt instanceof Date && expiresAt.getTime() > Number.NEGATIVE_INFINITY)) {
    throw new TypeError('expiresAt must be a valid Date');
  }
  return { context, requestID: requestID.value, log, signal: () => request.signal };
}
