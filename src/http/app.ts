import { type Context, Hono } from 'hono';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import type { UserContext } from '../registry/mutators.js';
import type { Forward } from '../sync/forward.js';
import type { Push } from '../sync/push.js';
import type { TailState } from '../sync/tail.js';
import { type BodyLimits, defaultLimits } from './body.js';
import { type Answer, type Exchange, type Incoming, respond } from './exchange.js';
import type { Authenticate } from './identify.js';
import type { PokeStreams } from './poke-streams.js';
import { handlePull, handlePush, type Pull } from './sync.js';

export interface AppOptions<User extends UserContext> {
  readonly pull: Pull<User>;
  /** Applies pushes here, or forwards them to the application's mutate endpoint. */
  readonly push: Push<User> | { readonly forward: Forward };
  readonly authenticate: Authenticate<User>;
  readonly pokes: PokeStreams<User>;
  /** Rejects while the server cannot do its work. */
  readonly ready: () => Promise<void>;
  /** How the pokes stand. */
  readonly tail: () => TailState;
  readonly log: Logger;
  /** Where `/pull`, `/push` and `/poke` are. Default `/sync`. */
  readonly basePath?: string;
  readonly limits?: Partial<BodyLimits>;
}

export interface App {
  /** Answers one request; never rejects. `env` is what the adapter of the runtime passes on. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

type Handler = (exchange: Exchange) => Promise<Answer>;

/** The route table. */
export function createApp<User extends UserContext>(options: AppOptions<User>): App {
  const { authenticate, pull, push, pokes, ready, tail, log, basePath = '/sync' } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const app = new Hono();

  // One handler for all methods: a second one per path makes Hono compose middleware for every request.
  const route = (methods: readonly string[], path: string, handler: Handler) => {
    app.all(path, (c) =>
      respond(incoming(c), log, methods.includes(c.req.method) ? handler : () => refuseMethod(methods)),
    );
  };
  route(['POST'], `${basePath}/pull`, (exchange) => handlePull(exchange, authenticate, pull, limits.pull));
  route(['POST'], `${basePath}/push`, (exchange) => handlePush(exchange, authenticate, push, limits.push));
  route(['GET'], `${basePath}/poke`, (exchange) => pokes.open(exchange, authenticate));
  route(['GET', 'HEAD'], '/healthz', async () => '{"status":"ok"}');
  route(['GET', 'HEAD'], '/readyz', async () => {
    await ready().catch((cause: unknown) => refuseService(tail(), cause));
    return JSON.stringify({ status: 'ok', pokes: tail() });
  });
  app.notFound((c) => respond(incoming(c), log, refusePath));
  app.onError((error, c) =>
    respond(incoming(c), log, () => {
      throw error;
    }),
  );

  return { fetch: async (request, env) => app.fetch(request, env as object) };
}

function incoming({ req, env }: Context): Incoming {
  return { request: req.raw, path: req.path, env };
}

async function refuseMethod(methods: readonly string[]): Promise<never> {
  const allow = methods.join(', ');
  throw new Problem('method-not-allowed', `This path takes ${allow} only`, { headers: { Allow: allow } });
}

async function refusePath(): Promise<never> {
  throw new Problem('not-found', 'There is nothing at this path');
}

function refuseService({ lagMs }: TailState, cause: unknown): never {
  const lag = lagMs === null ? '' : `; the change log was last read ${lagMs} ms ago`;
  throw new Problem('unavailable', `The server is not ready${lag}`, { cause });
}
