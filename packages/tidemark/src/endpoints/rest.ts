import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Answer } from '../http/answer.js';
import { type JSONBody, readOptionalJSON } from '../http/body.js';
import type { Caller } from '../http/identify.js';
import { type Authenticate, identify } from '../http/identify.js';
import { preferenceOf } from '../http/negotiation.js';
import type { Exchange, Route } from '../http/route.js';
import type { Admission } from '../limits/admission.js';
import type { Reservation } from '../limits/budget.js';
import { type CallRequest, decodeBatch } from '../protocol/calls.js';
import { fromPathSegment } from '../protocol/path-segment.js';
import type { Calls } from '../writes/calls/calls.js';

/** The options of `restRoutes`. */
export interface RestRoutesOptions<Context extends UserContext> {
  readonly calls: Pick<Calls<never, Context>, 'run'>;
  readonly authenticate: Authenticate<Context>;
  /** The prefix of `/api`. */
  readonly basePath: string;
  readonly admission: Admission;
}

/** Creates the routes of REST calls: of single calls, with the mutator's name in the path, and of batches. */
export function restRoutes<Context extends UserContext>(options: RestRoutesOptions<Context>): Route[] {
  const prefix = `${options.basePath}/api/mutators`;
  const methods = ['POST'];
  return [
    { methods, path: prefix, handle: (exchange) => handleBatch(exchange, options) },
    { methods, path: `${prefix}/`, handle: (exchange) => handleBatch(exchange, options) },
    {
      methods,
      path: `${prefix}/*`,
      handle: (exchange) => handleCall(exchange, options, nameIn(exchange.request.url, `${prefix}/`)),
    },
  ];
}

async function handleCall<Context extends UserContext>(
  exchange: Exchange,
  options: RestRoutesOptions<Context>,
  name: string,
): Promise<Answer> {
  const caller = await identify(exchange, options.authenticate);
  return options.admission.bodies.during(caller.context.userID, async (reservation) => {
    const { value: args } = await readBody(exchange, options, reservation);
    return run(exchange, options, caller, { kind: 'call', call: { name, args } });
  });
}

async function handleBatch<Context extends UserContext>(
  exchange: Exchange,
  options: RestRoutesOptions<Context>,
): Promise<Answer> {
  const caller = await identify(exchange, options.authenticate);
  return options.admission.bodies.during(caller.context.userID, async (reservation) => {
    const hasBody = exchange.request.headers.has('Content-Type');
    const entries = hasBody ? (await readBody(exchange, options, reservation)).value : undefined;
    if (!Array.isArray(entries)) {
      const detail =
        'A mutator name is required: in the path, as in /api/mutators/todo/create, or in each entry of a JSON array';
      throw new Problem('mutator-name-missing', detail);
    }
    return run(exchange, options, caller, { kind: 'batch', calls: decodeBatch(entries) });
  });
}

function readBody(
  { request }: Exchange,
  { admission: { limits } }: { readonly admission: Admission },
  reservation: Reservation,
): Promise<JSONBody> {
  return readOptionalJSON(request, { limit: limits.call, reservation }, { exactNumbers: true });
}

async function run<Context extends UserContext>(
  { request: { headers } }: Exchange,
  { calls }: RestRoutesOptions<Context>,
  caller: Caller<Context>,
  callRequest: CallRequest,
): Promise<Answer> {
  const idempotencyKey = idempotencyKeyOf(headers);
  const rollback = prefersRollback(headers);
  const { answer, replayed } = await calls.run(callRequest, caller, { rollback, idempotencyKey });
  return {
    kind: 'reply',
    body: answer,
    headers: {
      ...(rollback && { 'Preference-Applied': 'tx=rollback' }),
      ...(replayed && { 'Idempotent-Replayed': 'true' }),
    },
  };
}

/** Returns the path segments after the prefix, joined by dots. Keeps a segment that cannot be decoded as it is. */
function nameIn(url: string, prefix: string): string {
  const { pathname } = new URL(url);
  return pathname
    .slice(prefix.length)
    .split('/')
    .map((segment) => fromPathSegment(segment) ?? segment)
    .join('.');
}

const maxKeyLength = 255;

/** The key as a string of a structured header, or as the bare characters that many clients send. */
const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const bare = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

/**
 * Returns the request's `Idempotency-Key`; undefined if it has none.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07
 * @throws Problem `malformed-request`
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const value = headers.get('Idempotency-Key')?.trim();
  if (value === undefined) return undefined;
  const key = quoted.exec(value)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? bare.exec(value)?.[0] ?? '';
  if (key === '' || key.length > maxKeyLength) {
    throw new Problem('malformed-request', `Idempotency-Key must be a string of 1 to ${maxKeyLength} ASCII characters`);
  }
  return key;
}

/** True if the request has the preference `tx=rollback`: the call is then rolled back. */
export function prefersRollback(headers: Headers): boolean {
  return preferenceOf(headers, 'tx')?.toLowerCase() === 'rollback';
}
