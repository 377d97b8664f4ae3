import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import { type Answer, type JSONAnswer, json } from '../http/answer.js';
import { type BodyLimits, parseJSON, readJSON, readText } from '../http/body.js';
import { compress } from '../http/compress.js';
import type { Caller } from '../http/identify.js';
import { type Authenticate, identify } from '../http/identify.js';
import type { Exchange, RequestID, Route } from '../http/route.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { decodePullRequest, type PullRequest } from '../protocol/pull.js';
import { decodePushRequest, type PushRequest } from '../protocol/push.js';
import type { PullRoute } from '../pulls/pull-route.js';
import type { PokeStreams } from './poke-streams.js';

/** A push as it was received. */
export interface SentPush {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  readonly authorization: string | null;
  readonly requestID: RequestID;
}

/** Applies a push here, or forwards it, as it was sent, to the application's mutate endpoint. */
export type PushRoute<Context extends UserContext> = (
  request: PushRequest,
  caller: Caller<Context>,
  sent: SentPush,
) => Promise<ProtocolError | null>;

/** The least length of an answer that is compressed, in UTF-16 units. */
const compressedLength = 1024;

/** How many pull requests are known by their text, and how long it may be, in UTF-16 units. */
const keptRequests = 10_000;
const keptLength = 2048;

/** The options of `syncRoutes`. */
export interface SyncRoutesOptions<Context extends UserContext> {
  readonly pull: PullRoute<Context>;
  readonly push: PushRoute<Context>;
  readonly pokes: PokeStreams<Context>;
  readonly authenticate: Authenticate<Context>;
  /** The prefix of `/sync/pull`, `/sync/push` and `/sync/poke`. */
  readonly basePath: string;
  readonly limits: BodyLimits;
  /** Whether pulls are compressed. */
  readonly compression: boolean;
}

/** The routes that sync clients call: pull, push and poke. */
export function syncRoutes<Context extends UserContext>(options: SyncRoutesOptions<Context>): Route[] {
  const { pull, push, pokes, authenticate, basePath, limits, compression } = options;
  const decodePull = pullDecoder();
  return [
    {
      methods: ['POST'],
      path: `${basePath}/sync/pull`,
      async handle(exchange) {
        const answer = await handlePull(exchange, authenticate, pull, decodePull, limits.pull);
        const isWorthIt = answer.kind === 'json in pieces' || answer.text.length >= compressedLength;
        return compression && isWorthIt ? compress(answer, exchange.request.headers.get('Accept-Encoding')) : answer;
      },
    },
    {
      methods: ['POST'],
      path: `${basePath}/sync/push`,
      handle: (exchange) => handlePush(exchange, authenticate, push, limits.push),
    },
    { methods: ['GET'], path: `${basePath}/sync/poke`, handle: (exchange) => pokes.open(exchange, authenticate) },
  ];
}

/** Decodes pull requests by their text, and remembers them: while nothing changes, a client sends the same one. */
function pullDecoder(): (text: string) => ReturnType<typeof decodePullRequest> {
  const known = new BoundedMap<string, PullRequest>(keptRequests);
  return (text) => {
    const found = known.get(text);
    if (found) return found;
    const request = decodePullRequest(parseJSON(text));
    if (!('error' in request) && text.length <= keptLength) known.set(text, request);
    return request;
  };
}

/** The pull endpoint. `limit` is in bytes. */
async function handlePull<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  pull: PullRoute<Context>,
  decode: ReturnType<typeof pullDecoder>,
  limit: number,
): Promise<JSONAnswer> {
  const caller = await identify(exchange, authenticate);
  const request = decode(await readText(exchange.request, limit));
  if ('error' in request) return json(request);
  const answer = await pull(request, caller);
  return 'error' in answer ? json(answer) : answer;
}

/** The push endpoint. `limit` is in bytes. */
async function handlePush<Context extends UserContext>(
  exchange: Exchange,
  authenticate: Authenticate<Context>,
  push: PushRoute<Context>,
  limit: number,
): Promise<Answer> {
  const { requestID } = exchange;
  const caller = await identify(exchange, authenticate);
  const { bytes: body, value } = await readJSON(exchange.request, limit, { exactNumbers: true });
  const request = decodePushRequest(value);
  if ('error' in request) return json(request);
  const authorization = exchange.request.headers.get('Authorization');
  const refusal = await push(request, caller, { body, authorization, requestID });
  return json(refusal ?? {});
}
