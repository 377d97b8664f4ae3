import type { UserContext } from '../context.js';
import { type BodyLimits, decodeText, readBody } from '../http/body.js';
import type { Answer, Exchange } from '../http/exchange.js';
import type { Caller } from '../http/identify.js';
import { type Authenticate, identify } from '../http/identify.js';
import type { Route } from '../http/route.js';
import { parseJSON } from '../protocol/json.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { decodePullRequest, type PullRequest } from '../protocol/pull.js';
import { decodePushRequest } from '../protocol/push.js';
import type { Push } from '../writes/push.js';
import type { Forward } from './forward.js';
import type { PokeStreams } from './poke-streams.js';

/** Answers a pull: one of the protocol's refusals, or the JSON text of the OK response. */
export type Pull<Context extends UserContext> = (
  request: PullRequest,
  caller: Caller<Context>,
) => Promise<ProtocolError | Answer>;

export interface SyncRoutesOptions<Context extends UserContext> {
  readonly pull: Pull<Context>;
  /** Applies pushes here, or forwards them to the application's mutate endpoint. */
  readonly push: Push<Context> | { readonly forward: Forward };
  readonly pokes: PokeStreams<Context>;
  readonly authenticate: Authenticate<Context>;
  /** What stands before `/sync/pull`, `/sync/push` and `/sync/poke`. */
  readonly basePath: string;
  readonly limits: BodyLimits;
}

/** What the sync clients call. */
export function syncRoutes<Context extends UserContext>(options: SyncRoutesOptions<Context>): Route[] {
  const { pull, push, pokes, authenticate, basePath, limits } = options;
  return [
    {
      methods: ['POST'],
      path: `${basePath}/sync/pull`,
      handle: (exchange) => handlePull(exchange, authenticate, pull, limits.pull),
    },
    {
      methods: ['POST'],
      path: `${basePath}/sync/push`,
      handle: (exchange) => handlePush(exchange, authenticate, push, limits.push),
    },
    { methods: ['GET'], path: `${basePath}/sync/poke`, handle: (exchange) => pokes.open(exchange, authenticate) },
  ];
}

/** The pull endpoint. `limit` is in bytes. */
async function handlePull<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  pull: Pull<Context>,
  limit: number,
): Promise<Answer> {
  const caller = await identify(exchange, authenticate);
  const body = decodeText(await readBody(exchange.request, limit));
  const request = decodePullRequest(parseJSON(body));
  const answer = 'error' in request ? request : await pull(request, caller);
  return typeof answer === 'string' || Symbol.asyncIterator in answer ? answer : JSON.stringify(answer);
}

/** The push endpoint. `limit` is in bytes. */
async function handlePush<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  push: Push<Context> | { readonly forward: Forward },
  limit: number,
): Promise<Answer> {
  const caller = await identify(exchange, authenticate);
  const body = await readBody(exchange.request, limit);
  const request = decodePushRequest(parseJSON(decodeText(body), { exactNumbers: true }));
  if ('error' in request) return JSON.stringify(request);
  const refusal =
    typeof push === 'function'
      ? await push(request, caller)
      : await push.forward({
          body,
          authorization: exchange.request.headers.get('Authorization'),
          requestID: exchange.requestID,
          log: exchange.log,
        });
  return refusal === null ? '{}' : JSON.stringify(refusal);
}
