import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { healthRoutes, readiness } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { type EndpointRoute, syncEndpoints } from './endpoints/sync.js';
import { syncPaths } from './endpoints/sync-paths.js';
import { viewRoutes } from './endpoints/views/views.js';
import { startEngine } from './engine.js';
import { createApp, createHandler } from './http/app.js';
import { admitting } from './http/identify.js';
import { bodyBudget, requestLimits, spoolBudget } from './limits/request-limits.js';
import { resolveLogger } from './log.js';
import type { PokedClients } from './protocol/poke.js';
import { limitAddresses, limitUsers } from './rates.js';
import { defineMutators } from './registry/mutators.js';
import { toMutators } from './registry/registry.js';
import { restSurface } from './rest.js';
import type { Surroundings } from './surroundings.js';
import type { SyncOptions, WithTx } from './sync-options.js';
import { type ReadingSources, Readings } from './telemetry/readings.js';
import { observeMutators, observeRequests } from './telemetry/requests.js';
import { type ExposeTogether, Telemetry } from './telemetry/telemetry.js';
import { listViews } from './view/listed-views.js';

/** What `createSync` returns. */
export interface Sync<Context extends UserContext = UserContext> {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /**
   * Answers a pull, at whatever path the application serves it, from a caller whom it has identified itself; as `fetch`
   * does otherwise. Never rejects.
   *
   * @param ctx what `authenticate` would return, or null for a 401 response
   * @param env as for `fetch`
   */
  pull(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /** The same for a push. */
  push(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /** The same for a stream of pokes. */
  poke(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /**
   * Calls `poke` at once, and then whenever the user's clients may have something to pull: for Pusher, WebSockets and
   * whatever else reaches them. The hook counts as a stream of pokes. What `poke` throws is logged.
   *
   * @param ctx what `authenticate` returns for the user; after its `expiresAt`, the hook ends
   * @param onEnd called once if the hook ends otherwise than by the returned function: the user is disconnected, the
   * context has expired, or the server stops. What it throws is logged. Default: nothing is called
   * @returns a function that ends the hook
   * @throws Problem `unavailable` or `too-many-requests` if there are too many streams, `malformed-request` for IDs that
   * cannot be, `unauthenticated` if the user is disconnected in the meantime; and what a pull of this user would throw now
   */
  onPoke(ctx: Context, poke: () => unknown, clients?: PokedClients, onEnd?: () => unknown): Promise<() => void>;
  /**
   * Ends what is held open for a user, on all servers: streams of pokes and of views, requests that wait, and hooks. This
   * server ends them immediately, others when they poll the change log next. Delete the user's sessions first: whoever is
   * still authorized connects again.
   *
   * @throws TypeError for what cannot be a user's ID; SetupError if the schema is too old, or the server's role lacks the
   * right; and what the database throws: then other servers do not know of it
   */
  disconnect(userID: string): Promise<void>;
  /** Rejects with the reason while pulls cannot be answered. */
  ready(): Promise<void>;
  /**
   * Prepares for the end: `/readyz` returns 503 from now on, and the streams of pokes end, which would otherwise never
   * do so. Pulls and pushes continue.
   */
  drain(): void;
  /** Ends the background work, and closes the connections that Tidemark opened itself. */
  close(): Promise<void>;
}

/** Next.js compresses by itself, and sends what is compressed already without its `Content-Encoding`. */
const isInNext = process.env.NEXT_RUNTIME !== undefined;

/**
 * Starts serving an application's client views and mutators from its database.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function createSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx> & WithTx<Tx>,
): Promise<Sync<Context>> {
  return startSync(options);
}

/** A sync, and what whoever runs several of them must know. */
export interface StartedSync<Context extends UserContext = UserContext> extends Sync<Context> {
  /** As `drain`, but `/readyz` goes on: another process answers on the same port. */
  endStreams(): void;
  /** What its gauges are read from. */
  readonly sources: ReadingSources;
  /** Does the upkeep, which a sync with surroundings does not do by itself. */
  keepUp(): Promise<void>;
}

/** Whom a sync is not alone with. */
export interface Company {
  /** What it shares with others in its process. */
  readonly surroundings?: Surroundings | undefined;
  /** If its process is one of several: how it tells what all of them have measured. */
  readonly together?: ExposeTogether | undefined;
}

/** The same, among others. */
export async function startSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx>,
  { surroundings, together }: Company = {},
): Promise<StartedSync<Context>> {
  const { basePath = '', rest = {}, compression = !isInNext, metrics = 'off', rates = {} } = options;
  const log = surroundings?.log ?? resolveLogger(options.log);
  const limits = requestLimits(options.limits);
  const bodies = bodyBudget(limits, surroundings?.within.bodies);
  const spool = spoolBudget(limits, surroundings?.within.spool);
  const telemetry = surroundings?.telemetry ?? (await Telemetry.start(metrics !== 'off', together));
  const mutators = observeMutators(toMutators(options.mutators ?? defineMutators({}), options.validators), telemetry);
  const paths = syncPaths(basePath, options.paths);
  const engine = await startEngine(options, { mutators, telemetry, log, surroundings });
  const { gates, admit, journal, pull, read, push, streams, hooks, watches, transact, states, ready } = engine;
  let isStopping = false;

  const { authenticate } = options;
  const shared = { authenticate, basePath, bodies };
  const delivery = { spool, compression };
  const sync = syncEndpoints<Context>({ ...delivery, basePath, bodies, pull, push, pokes: streams, limits });
  const routes = [
    sync.pull(paths.pull, authenticate),
    sync.push(paths.push, authenticate),
    sync.poke(paths.poke, authenticate),
    ...healthRoutes({ basePath, isStopping: () => isStopping, state: () => readiness({ ready, ...states }) }),
  ];
  const listed = listViews(options.views);
  if (rest && (mutators.size > 0 || listed.length > 0)) {
    const { schemaVersions, mapError } = options;
    const reading = { ...shared, ...delivery, views: listed, read, watches, schemaVersions };
    const views = {
      routes: viewRoutes<Context>(reading),
      described: listed.map((view) => ({ ...view, rows: engine.rows.get(view.name) })),
    };
    const calls = { mutators, transact, admit, idempotent: true, limit: limits.call, journal, mapError };
    const surface = { ...shared, ...calls, log };
    routes.push(...restSurface({ ...rest, ...surface, views: listed.length > 0 ? views : undefined }));
  }
  const sources = { db: engine.db, gates, bodies, spool, streams: engine.openStreams, ...states };
  const endTelling = surroundings ? () => {} : tellOf(sources, telemetry);
  const { exposition } = telemetry;
  if (metrics !== 'off' && exposition) {
    routes.push(metricsRoute({ exposition, basePath, admit: admitting(metrics, authenticate) }));
  }
  const observer = observeRequests(telemetry, surroundings?.onAnswered);
  const requestHooks = { observer, admit: limitAddresses(rates), admitUser: limitUsers(rates) };
  const app = createApp(routes, log, requestHooks);
  const answer = (route: EndpointRoute<Context>, request: Request, ctx: Context | null, env: unknown) => {
    const given = () => ctx;
    return createHandler(route('*', given), log, requestHooks)(request, env);
  };

  const endStreams = () => {
    streams.close();
    watches.close();
  };
  return {
    fetch: app.fetch,
    pull: (request, ctx, env) => answer(sync.pull, request, ctx, env),
    push: (request, ctx, env) => answer(sync.push, request, ctx, env),
    poke: (request, ctx, env) => answer(sync.poke, request, ctx, env),
    onPoke: (...hook) => hooks.open(...hook),
    disconnect: (userID) => engine.disconnect(userID),
    ready,
    drain() {
      isStopping = true;
      endStreams();
    },
    endStreams,
    sources,
    keepUp: () => engine.upkeep.run(),
    async close() {
      endTelling();
      await engine.close();
    },
  };
}

/** Has telemetry read the gauges of a sync. Returns a function that ends this. */
function tellOf(sources: ReadingSources, telemetry: Telemetry): () => void {
  const readings = new Readings(sources);
  telemetry.observe(() => readings.read());
  return () => {
    telemetry.end();
    readings.end();
  };
}
