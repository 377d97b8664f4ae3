import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import { isStorableText } from '../protocol/fields.js';
import type { Exchange } from './route.js';

/**
 * Returns who sent a request, or null for a 401 response. So is one for a `userID` that is no non-empty, well-formed string
 * of at most 1,024 bytes in UTF-8. It must not read the body. If it throws a Problem, that is
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

/** A caller whose request may stay open for longer than its authorization lasts. */
export interface Identified<Context extends UserContext = UserContext> extends Caller<Context> {
  /**
   * Calls `authenticate` again, with a new request that has the same URL, method and headers. It counts for no rate.
   * @throws as `identify`
   */
  readonly identifyAgain: () => Promise<Context>;
}

/**
 * Has `authenticate` say who sent a request, and counts it as the user's.
 * @throws Problem `unauthenticated`, or `too-many-requests` if the user sends too many; TypeError if `authenticate` read
 * the body or returned an unusable time; and whatever `authenticate` throws.
 */
export async function identify<Context extends UserContext>(
  { request, requestID, log, tell, admitUser }: Exchange,
  authenticate: Authenticate<Context>,
): Promise<Identified<Context>> {
  const context = await contextOf(request, authenticate, log);
  await admitUser?.(context);
  return {
    context,
    requestID: requestID.value,
    log,
    signal: () => request.signal,
    tell,
    identifyAgain: async () => {
      const { url, method, headers } = request;
      return contextOf(new Request(url, { method, headers }), authenticate, log);
    },
  };
}

async function contextOf<Context extends UserContext>(
  request: Request,
  authenticate: Authenticate<Context>,
  log: Logger,
): Promise<Context> {
  const context = await authenticate(request);
  if (context === null) throw refused('The request has no valid authorization');
  if (request.bodyUsed) throw new TypeError('authenticate, and middleware before it, must not read the body');
  if (!isUserID(context.userID)) {
    log.warn({}, `Refused a request, since authenticate returned a context whose userID is not ${userIDs}`);
    throw refused(`The authorization does not name a user by ${userIDs}`);
  }
  checkContext(context);
  return context;
}

/** The refusal of a request without a valid authorization. */
export function refused(detail: string): Problem {
  return new Problem('unauthenticated', detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** @throws TypeError for a context that `authenticate` may not return */
export function checkContext({ userID, expiresAt }: UserContext): void {
  if (!isUserID(userID)) {
    throw new TypeError(`The userID of a context must be ${userIDs}`);
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

/** With what else is in them, the keys of Tidemark's tables then fit into an index of Postgres. */
const maxUserIDBytes = 1024;

const userIDs = 'a non-empty, well-formed string of at most 1,024 bytes in UTF-8';

/** True for a user's ID. Of other texts, the database could take two different ones for the same. */
export function isUserID(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && isStorableText(value) && Buffer.byteLength(value) <= maxUserIDBytes
  );
}
