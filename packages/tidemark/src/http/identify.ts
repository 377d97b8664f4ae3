import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import { isStorableText } from '../protocol/fields.js';
import type { Annotations, Exchange } from './route.js';

/**
 * Returns the context of the caller, or null for a 401 response. A `userID` that is not a non-empty, well-formed string
 * of at most 1,024 bytes in UTF-8 causes a 401 response too. Must not read the body. A Problem that it throws becomes
 * the response; any other error is an internal error.
 */
export type Authenticate<Context extends UserContext> = (request: Request) => Context | null | Promise<Context | null>;

/** The sender of a request, and how to log the request. */
export interface Caller<Context extends UserContext = UserContext> {
  /** The result of `authenticate`. */
  readonly context: Context;
  readonly requestID: string;
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
  /** Its signal aborts when the client disconnects. Few requests need the signal, and it takes time to create. */
  readonly request?: Pick<Request, 'signal'> | undefined;
  /** Added to the request's log line and metrics. `annotate` extends them. */
  readonly annotations?: Annotations | undefined;
}

/** A caller whose request may stay open longer than its authorization lasts. */
export interface IdentifiedCaller<Context extends UserContext = UserContext> extends Caller<Context> {
  readonly request: Request;
  readonly authenticate: Authenticate<Context>;
}

/**
 * Has `authenticate` identify the caller, and counts the request towards the user's rate limit.
 * @throws Problem `unauthenticated`, or `too-many-requests` if the user sends too many; TypeError if `authenticate`
 * read the body or returned an invalid time; and whatever `authenticate` throws.
 */
export async function identify<Context extends UserContext>(
  { request, requestID, log, annotations, admission }: Exchange,
  authenticate: Authenticate<Context>,
): Promise<IdentifiedCaller<Context>> {
  const context = await contextOf(request, authenticate, log);
  await admission?.admitUser(context, log);
  return { context, requestID: requestID.value, log, request, annotations, authenticate };
}

/**
 * Has `authenticate` identify the caller again, from a new request with the same URL, method and headers. Rate limits
 * do not count it.
 * @throws like `identify`
 */
export async function identifyAgain<Context extends UserContext>({
  request: { url, method, headers },
  authenticate,
  log,
}: IdentifiedCaller<Context>): Promise<Context> {
  return contextOf(new Request(url, { method, headers }), authenticate, log);
}

async function contextOf<Context extends UserContext>(
  request: Request,
  authenticate: Authenticate<Context>,
  log: Logger,
): Promise<Context> {
  const context = await authenticate(request);
  if (context === null) throw unauthenticated('The request has no valid authorization');
  if (request.bodyUsed) throw new TypeError('authenticate, and middleware before it, must not read the body');
  if (!isUserID(context.userID)) {
    log.warn({}, `Refused a request, since authenticate returned a context whose userID is not ${userIDs}`);
    throw unauthenticated(`The authorization does not name a user by ${userIDs}`);
  }
  checkExpiry(context);
  return context;
}

/** Returns the Problem for a request without a valid authorization. */
export function unauthenticated(detail: string): Problem {
  return new Problem('unauthenticated', detail, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** @throws TypeError for a context that `authenticate` must not return */
export function checkContext(context: UserContext): void {
  if (!isUserID(context.userID)) {
    throw new TypeError(`The userID of a context must be ${userIDs}`);
  }
  checkExpiry(context);
}

function checkExpiry({ expiresAt }: UserContext): void {
  if (expiresAt !== undefined && !(expiresAt instanceof Date && expiresAt.getTime() > Number.NEGATIVE_INFINITY)) {
    throw new TypeError('expiresAt must be a valid Date');
  }
}

/** The callers that can see the metrics, or the documentation of the API. */
export type Visibility = 'public' | 'authenticated';

/** Chosen so that the keys of Tidemark's tables, with their other columns, fit into a Postgres index. */
const maxUserIDBytes = 1024;

const userIDs = 'a non-empty, well-formed string of at most 1,024 bytes in UTF-8';

/** True for a valid user ID. The database might not distinguish two invalid ones. */
export function isUserID(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && isStorableText(value) && Buffer.byteLength(value) <= maxUserIDBytes
  );
}
