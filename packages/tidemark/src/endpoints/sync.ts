import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import { type Answer, json } from '../http/answer.js';
import { readBytes, readJSON } from '../http/body.js';
import { type Authenticate, identify } from '../http/identify.js';
import { decodeText, parse, parseText } from '../http/parse.js';
import { annotate, type Exchange, type Route } from '../http/route.js';
import { type Delivery, deliver } from '../http/sending/deliver.js';
import { decodePullRequest, type PullRequest } from '../protocol/pull.js';
import { decodePushRequest } from '../protocol/push.js';
import type { PullService } from './pulls/pull-service.js';
import type { PushService } from './push-service.js';
import type { PokeStreams } from './subscriptions/poke-streams.js';

/** The maximum number of pull requests in the cache, and their maximum total length in UTF-16 units. */
const maxCachedRequests = 10_000;
const maxCachedLength = 32 * 1024 * 1024;
/** The maximum size of a pull request in the cache, in bytes. */
const maxRequestBytes = 64 * 1024;

/** The options of `SyncEndpoints`. */
export interface SyncEndpointsOptions<Context extends UserContext> extends Delivery {
  readonly pulls: Pick<PullService<Context>, 'pull'>;
  readonly pushes: Pick<PushService<Context, never>, 'push'>;
  readonly pokes: PokeStreams<Context>;
  /** The prefix of all paths, for the labels. */
  readonly basePath: string;
}

/** The endpoints that sync clients call. Whatever its path, a route has the label of its endpoint's default path. */
export class SyncEndpoints<Context extends UserContext> {
  readonly #options: SyncEndpointsOptions<Context>;
  readonly #decoder = new PullDecoder();

  constructor(options: SyncEndpointsOptions<Context>) {
    this.#options = options;
  }

  /** Returns the route of pulls at a path, for callers that `authenticate` identifies. */
  pullRoute(path: string, authenticate: Authenticate<Context>): Route {
    return {
      methods: ['POST'],
      path,
      label: `${this.#options.basePath}/sync/pull`,
      handle: (exchange) => this.#pull(exchange, authenticate),
    };
  }

  /** Returns the route of pushes at a path, for callers that `authenticate` identifies. */
  pushRoute(path: string, authenticate: Authenticate<Context>): Route {
    return {
      methods: ['POST'],
      path,
      label: `${this.#options.basePath}/sync/push`,
      handle: (exchange) => this.#push(exchange, authenticate),
    };
  }

  /** Returns the route of streams of pokes at a path, for callers that `authenticate` identifies. */
  pokeRoute(path: string, authenticate: Authenticate<Context>): Route {
    return {
      methods: ['GET', 'POST'],
      path,
      label: `${this.#options.basePath}/sync/poke`,
      handle: (exchange) => this.#options.pokes.open(exchange, authenticate),
    };
  }

  async #pull(exchange: Exchange, authenticate: Authenticate<Context>): Promise<Answer> {
    const { pulls, admission } = this.#options;
    const { bodies, limits } = admission;
    const caller = await identify(exchange, authenticate);
    const request = await bodies.during(caller.context.userID, async (reservation) =>
      this.#decoder.decode(await readBytes(exchange.request, { limit: limits.pull, reservation })),
    );
    if ('error' in request) return json(request);
    const answer = await pulls.pull(request, caller);
    if ('error' in answer) return json(answer);
    return deliver(answer, exchange.request, caller, this.#options);
  }

  async #push(exchange: Exchange, authenticate: Authenticate<Context>): Promise<Answer> {
    const { pushes, admission } = this.#options;
    const { bodies, limits } = admission;
    const { requestID } = exchange;
    const caller = await identify(exchange, authenticate);
    return bodies.during(caller.context.userID, async (reservation) => {
      const intake = { limit: limits.push, reservation };
      const { bytes: body, value } = await readJSON(exchange.request, intake, { exactNumbers: true });
      const request = decodePushRequest(value, limits.mutations);
      if ('error' in request) return json(request);
      annotate(exchange, { mutations: request.mutations.length });
      const authorization = exchange.request.headers.get('Authorization');
      const refusal = await pushes.push(request, caller, { body, authorization, requestID });
      return json(refusal ?? {});
    });
  }
}

/** Decodes pull requests. Has a cache by text, because a client repeats the same request while nothing changes. */
class PullDecoder {
  readonly #cache = new BoundedMap<string, PullRequest>(maxCachedRequests, {
    maxSize: maxCachedLength,
    sizeOf: (text) => text.length,
  });

  async decode(bytes: Uint8Array): Promise<ReturnType<typeof decodePullRequest>> {
    if (bytes.byteLength > maxRequestBytes) return decodePullRequest(await parse(bytes));
    const text = decodeText(bytes);
    const cachedRequest = this.#cache.get(text);
    if (cachedRequest) return cachedRequest;
    const request = decodePullRequest(parseText(text));
    if (!('error' in request)) this.#cache.set(text, request);
    return request;
  }
}
