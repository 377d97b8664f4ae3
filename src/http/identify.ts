import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import { isStorableText } from '../protocol/fields.js';
import type { Exchange } from './exchange.js';

/**
 * Says who sends a request, or null when nobody is known. It must leave the body alone.
 * A Problem that it throws is the answer; anything else is an internal error.
 */
export type Authenticate<Context extends UserContext> = (request: Request) => Context | null | Promise<Context | null>;

/** Who makes a request, and how to speak of it in the log. */
export interface Caller<Context extends UserContext = UserContext> {
  /** What `authenticate` answered. */
  readonly context: Context;
  readonly requestID: string;
  /** Adds the request ID to every line. */
  readonly log: Logger;
}

/**
 * Who makes a request.
 * @throws Problem `unauthenticated`
 */
export async function identify<Context extends UserContext>(
  { request, requestID, log }: Exchange,
  authenticate: Authenticate<Context>,
): Promise<Caller<Context>> {
  const context = await authenticate(request);
  if (context === null) {
    throw new Problem('unauthenticated', 'The request carries no valid authorization', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  if (request.bodyUsed) throw new TypeError('authenticate, or a middleware before it, has read the body');
  const { userID, expiresAt } = context;
  // Two users must never become one on their way into the database.
  if (typeof userID !== 'string' || userID === '' || !isStorableText(userID)) {
    throw new TypeError('authenticate must answer null or an object whose userID is a non-empty, well-formed string');
  }
  if (expiresAt !== undefined && !(expiresAt instanceof Date && expiresAt.getTime() > Number.NEGATIVE_INFINITY)) {
    throw new TypeError('expiresAt must be a valid Date');
  }
  return { context, requestID: requestID.value, log };
}
