/** Cross-origin resource sharing: lets pages of other origins read responses. */
import { SetupError } from '../errors.js';
import { originsOf } from './origins.js';

/** The options of `withCORS`. */
export interface CORSOptions {
  /** The origins whose pages may send requests, such as `https://app.example.com`; or `*` alone, for every origin. */
  readonly origins: readonly string[];
  /** True to let these pages send the user's cookies. Default false. */
  readonly credentials?: boolean | undefined;
}

type Fetch = (request: Request, env?: unknown) => Response | Promise<Response>;

const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, X-Replicache-RequestID, X-Sync-RequestID',
  // Two hours, the longest time for which Chromium caches a preflight.
  'Access-Control-Max-Age': '7200',
};
const exposedHeaders = 'ETag, Idempotent-Replayed, Preference-Applied, Retry-After, X-Request-ID';

/**
 * Lets pages of other origins call what a `fetch` function serves, such as that of `createSync`. Answers preflights,
 * and adds headers to responses, which still stream. Pages of origins that are not named get no such headers, so
 * browsers block them.
 *
 * @param fetch returns responses with mutable headers, unlike the platform's `fetch`
 * @throws SetupError for an origin that can never match, or if `*` is combined with another origin or with credentials
 */
export function withCORS(
  fetch: Fetch,
  { origins, credentials = false }: CORSOptions,
): (request: Request, env?: unknown) => Promise<Response> {
  const any = origins.includes('*');
  if (any && credentials) {
    throw new SetupError(
      "CORS for every origin, with credentials, would let any page read its visitors' data: name the origins.",
    );
  }
  if (any && origins.length > 1) throw new SetupError('The origin * includes all others: name it alone.');
  const namedOrigins = originsOf(any ? [] : origins);
  const grant = (origin: string) => ({
    'Access-Control-Allow-Origin': any ? '*' : origin,
    ...(credentials && { 'Access-Control-Allow-Credentials': 'true' }),
  });

  return async (request, env) => {
    const { headers, method } = request;
    const origin = headers.get('Origin');
    const granted = origin !== null && (any || namedOrigins.has(origin)) ? grant(origin) : undefined;
    if (granted && method === 'OPTIONS' && headers.has('Access-Control-Request-Method')) {
      return new Response(null, { status: 204, headers: { ...granted, ...preflightHeaders, Vary: 'Origin' } });
    }
    const response = await fetch(request, env);
    // Even without an origin, because a cache may reuse this response for a request with one.
    response.headers.append('Vary', 'Origin');
    if (granted) {
      for (const [name, value] of Object.entries(granted)) response.headers.set(name, value);
      response.headers.set('Access-Control-Expose-Headers', exposedHeaders);
    }
    return response;
  };
}
