/** Authenticates callers with a session cookie. */
import { parse } from 'hono/utils/cookie';
import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Authenticate } from '../http/identify.js';
import { isForeign } from '../protocol/origin.js';
import { originsOf } from './origins.js';

/** The options of `sessionAuth`. */
export interface SessionAuthOptions<Context extends UserContext> {
  /** The name of the cookie whose value is the session's token. */
  readonly cookie: string;
  /** Finds a session by its token; null if it does not exist or has expired. Called for every request. */
  readonly session: (token: string) => Context | null | Promise<Context | null>;
  /** Other origins whose pages may write on the user's behalf, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[] | undefined;
  /** Returns the context of a request with neither this cookie nor `Authorization`. Default: null, for a 401. */
  readonly anonymous?: ((request: Request) => Context | null | Promise<Context | null>) | undefined;
}

/** The methods that cannot change anything. */
const safeMethods: readonly string[] = ['GET', 'HEAD'];

/**
 * Creates an `authenticate` for callers with a session cookie. Browsers send cookies with any page's requests, so it
 * refuses requests that may write if they come from a page of another origin: it throws the Problem `forbidden`.
 *
 * @throws SetupError for an origin that can never match
 */
export function sessionAuth<Context extends UserContext>(options: SessionAuthOptions<Context>): Authenticate<Context> {
  const { cookie, session, anonymous } = options;
  const trustedOrigins = originsOf(options.origins ?? []);
  return (request) => {
    const { headers, method } = request;
    if (!safeMethods.includes(method) && isForeign(request) && !trustedOrigins.has(headers.get('Origin') ?? '')) {
      throw new Problem('forbidden', 'The request comes from a page of an origin that may not write with this cookie');
    }
    const token = parse(headers.get('Cookie') ?? '', cookie)[cookie];
    if (token) return session(token);
    if (headers.get('Authorization')) return null;
    return anonymous?.(request) ?? null;
  };
}
