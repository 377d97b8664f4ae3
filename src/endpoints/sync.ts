import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import { type Answer, json } from '../http/answer.js';
import { readBytes, readJSON } from '../http/body.js';
import { type Authenticate, type Caller, identify } from '../http/identify.js';
import { decodeText, parse, parseText } from '../http/parse.js';
import type { Exchange, RequestID, Route } from '../http/route.js';
import { type Delivery, deliver } from '../http/sending/deliver.js';
import type { Budget } from '../limits/budget.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { decodePullRequest, type PullRequest } from '../protocol/pull.js';
import { decodePushRequest, type PushRequest } from '../protocol/push.js';
import type { PullService } from './pull-service.js';
import type { PokeStreams } from './subscriptions/poke-streams.js';
import type { SyncEndpoint } from './sync-paths.js';

/** A push as received. */
export interface RawPush {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  readonly authorization: string | null;
  readonly requestID: RequestID;
}

/** Applies a push here, or forwards it unchanged to the application's mutate endpoint. */
export type PushRoute<Context extends UserContext> = (
  request: PushRequest,
  caller: Caller<Context>,
  rawPush: RawPush,
) => Promise<ProtocolError | null>;

/** The maximum number of pull requests in the cache, and the maximum length of one, in bytes. */
const maxCachedRequests = 10_000;
const maxCachedLength = 2048;

/** The options of `syncEndpoints`. */
export interface SyncEndpointsOptions<Context extends UserContext> extends Delivery {
  readonly pulls: Pick<PullService<Context>, 'pull'>;
  readonly push: PushRoute<Context>;
  readonly pokes: PokeStreams<Context>;
  /** The prefix of all paths, for the labels. */
  readonly basePath: string;
  readonly limits: RequestLimits;
  /** The budget for bodies in memory. */
  readonly bodies: Budget;
}

/** Creates the route of an endpoint at a path, for callers that `authenticate` identifies. */
export type EndpointRoute<Context extends UserContext> = (path: string, authenticate: Authenticate<Context>) => Route;

/** Creates the endpoints that sync clients call. Whatever its path, an endpoint has the label of its default path. */
export function syncEndpoints<Context extends UserContext>(
  options: SyncEndpointsOptions<Context>,
): Readonly<Record<SyncEndpoint, EndpointRoute<Context>>> {
  const { basePath } = options;
  const decode = pullDecoder();
  return {
    pull: (path, authenticate) => ({
      methods: ['POST'],
      path,
      label: `${basePath}/sync/pull`,
      handle: (exchange) => handlePull(exchange, authenticate, options, decode),
    }),
    push: (path, authenticate) => ({
      methods: ['POST'],
      path,
      label: `${basePath}/sync/push`,
      handle: (exchange) => handlePush(exchange, authenticate, options),
    }),
    poke: (path, authenticate) => ({
      methods: ['GET'],
      path,
      label: `${basePath}/sync/poke`,
      handle: (exchange) => options.pokes.open(exchange, authenticate),
    }),
  };
}

type Decode = (bytes: Uint8Array) => Promise<ReturnType<typeof decodePullRequest>>;

/** Creates a decoder with a cache by text, because a client repeats the same request while nothing changes. */
function pullDecoder(): Decode {
  const cache = new BoundedMap<string, PullRequest>(maxCachedRequests);
  return async (bytes) => {
    if (bytes.byteLength > maxCachedLength) return decodePullRequest(await parse(bytes));
    const text = decodeText(bytes);
    const cachedRequest = cache.get(text);
    if (cachedRequest) return cachedRequest;
    const request = decodePullRequest(parseText(text));
    if (!('error' in request)) cache.set(text, request);
    return request;
  };
}

async function handlePull<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  { pulls, limits, bodies, spool, compression }: SyncEndpointsOptions<Context>,
  decode: Decode,
): Promise<Answer> {
  const caller = await identify(exchange, authenticate);
  const request = await bodies.during(caller.context.userID, async (reservation) =>
    decode(await readBytes(exchange.request, { limit: limits.pull, reservation })),
  );
  if ('error' in request) return json(request);
  const answer = await pulls.pull(request, caller);
  if ('error' in answer) return json(answer);
  return deliver(answer, exchange.request, caller, { compression, spool });
}

async function handlePush<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  { push, limits, bodies }: SyncEndpointsOptions<Context>,
): Promise<Answer> {
  const { requestID } = exchange;
  const caller = await identify(exchange, authenticate);
  return bodies.during(caller.context.userID, async (reservation) => {
    const intake = { limit: limits.push, reservation };
    const { bytes: body, value } = await readJSON(exchange.request, intake, { exactNumbers: true });
    const request = decodePushRequest(value, limits.mutations);
    if ('error' in request) return json(request);
    exchange.annotate({ mutations: request.mutations.length });
    const authorization = exchange.request.headers.get('Authorization');
    const refusal = await push(request, caller, { body, authorization, requestID });
    return json(refusal ?? {});
  });
}
