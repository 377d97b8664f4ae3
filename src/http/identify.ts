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
  /** Notes what the request turned out to be. */
  readonly tell?: Exchange['tell'] | undefined;
}

/**
 * Has `authenticate` say who sent a request.
 * @throws Problem `unauthenticated`; TypeError if `authenticate` read the body or returned an unusable context; and
 * whatever `authenticate` throws.
 */
export async function identify<Context extends UserContext>(
  { request, requestID, log, tell }: Exchange,
  authenticate: Authenticate<Context>,
): Promise<Caller<Context>> {
  const context = await authenticate(request);
  if (context === null) {
    throw new Problem('unauthenticated', 'The request has no valid authorization', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  if (request.bodyUsed) throw new TypeError('authenticate, and middleware before it, must not read the body');
  checkContext(context);
  return { context, requestID: requestID.value, log, signal: () => request.signal, tell };
}

/** @throws TypeError for a context that `authenticate` may not return */
export function checkContext({ userID, expiresAt }: UserContext): void {
  if (!isUserID(userID)) {
    throw new TypeError('authenticate must return null or an object whose userID is a non-empty, well-formed string');
  }
  if (expiresAt !== undefined && !(expiresAt instanceof Date && expiresAt.getTime() > Number.NEGATIVE_INFINITY)) {
    throw new TypeError('expiresAt must be a valid Date');
  }
}

/** Who may see what the server says about itself. */
export type Audience = 'public' | 'authenticated';

/** Makes a function that rejects, as `identify` does, if a caller is not among the audience. */
export function admitting<Context extends UserContext>(
  audience: Audience,
  authenticate: Authenticate<Context>,
): (exchange: Exchange) => Promise<unknown> {
  return async (exchange) => audience === 'public' || identify(exchange, authenticate);
}

/** Whether a value can be a user's ID. Of other texts, the database could take two different ones for the same. */
export function isUserID(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorableText(value);
}
