import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { healthRoutes, ServerReadiness } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { SyncEndpoints } from './endpoints/sync.js';
import { syncPaths } from './endpoints/sync-paths.js';
import { UserRequests } from './endpoints/user-requests.js';
import { viewRoutes } from './endpoints/views/views.js';
import { startEngine } from './engine.js';
import { createApp, createHandler } from './http/app.js';
import type { Route } from './http/route.js';
import { Admission } from './limits/admission.js';
import { resolveLogger } from './log.js';
import type { PokedClients } from './protocol/poke.js';
import { defineMutators } from './registry/mutators.js';
import { type Registry, toMutators } from './registry/registry.js';
import { restSurface } from './rest.js';
import { sampleInputFor } from './sample-args.js';
import type { SharedResources } from './shared-resources.js';
import type { SyncOptions, WithTx } from './sync-options.js';
import type { ProcessGroup } from './telemetry/exposition.js';
import { type GaugeSources, Gauges } from './telemetry/gauges.js';
import { observeMutators, RequestTelemetry } from './telemetry/requests.js';
import { Telemetry } from './telemetry/telemetry.js';
import { createUserAccess, type UserAccess } from './user-access.js';
import type { Views } from './view/define.js';
import { listViews } from './view/listed-views.js';

/** The sync server that `createSync` returns. */
export interface Sync<Context extends UserContext = UserContext> {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /**
   * Answers a pull from a caller that the application has identified itself, at any path. Otherwise works as `fetch`
   * does. Never rejects.
   *
   * @param ctx the caller, as `authenticate` would return it, or null for a 401 response
   * @param env as for `fetch`
   */
  pull(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /** Answers a push from a caller that the application has identified itself, at any path. Never rejects. */
  push(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /** Opens a stream of pokes for a caller that the application has identified itself, at any path. Never rejects. */
  poke(request: Request, ctx: Context | null, env?: unknown): Promise<Response>;
  /**
   * Calls `poke` immediately, and then whenever the user's clients may have something to pull. For Pusher, WebSockets
   * and other ways to reach clients. The hook counts as a stream of pokes. Errors that `poke` throws are logged.
   *
   * @param ctx the user, as `authenticate` returns it; the hook ends at its `expiresAt`
   * @param onEnd called once if something other than the returned function ends the hook: the user is disconnected, the
   * context expires, or the server stops. Errors that it throws are logged. Default: none
   * @returns a function that ends the hook
   * @throws Problem `unavailable` or `too-many-requests` if there are too many streams, `malformed-request` for invalid
   * IDs, `unauthenticated` if the user is disconnected during the call; and the errors of a pull by this user
   */
  onPoke(ctx: Context, poke: () => unknown, clients?: PokedClients, onEnd?: () => unknown): Promise<() => void>;
  /**
   * Returns a user's access for code of the server: pages, jobs, tests. It reads views and calls mutators as REST does,
   * with the same checks, limits, log lines, metrics and pokes, but without a request.
   *
   * @param ctx the user, as `authenticate` returns it. Its `expiresAt` has no effect.
   * @throws TypeError for a context that `authenticate` must not return
   */
  as(ctx: Context): UserAccess;
  /**
   * Ends everything that is open for a user, on all servers: streams of pokes and of views, waiting requests, and
   * hooks. This server ends them immediately, others at their next poll of the change log. Delete the user's sessions
   * first, because clients that are still authorized connect again.
   *
   * @throws TypeError for an invalid user ID; SetupError if the schema is too old, or the server's role lacks the
   * privilege; and the database's error, if it cannot record the disconnect for the other servers
   */
  disconnect(userID: string): Promise<void>;
  /** Rejects with the reason while the server cannot answer pulls. */
  ready(): Promise<void>;
  /**
   * Prepares the server to stop. From now on, `/readyz` returns 503. Ends the streams of pokes and other requests that
   * would stay open. Pulls and pushes still work.
   */
  drain(): void;
  /** Ends the background work, and closes the connections that Tidemark opened itself. */
  close(): Promise<void>;
}

/** A sync whose `as` knows the types of the application's mutators and views. */
export interface TypedSync<
  Context extends UserContext = UserContext,
  Registered extends object = object,
  Defined extends Views<never> = Views<never>,
> extends Sync<Context> {
  as(ctx: Context): UserAccess<Registered, Defined>;
}

/** True in Next.js, which compresses responses itself, and drops the `Content-Encoding` of compressed ones. */
const isInNext = process.env.NEXT_RUNTIME !== undefined;

/**
 * Starts serving an application's client views and mutators from its database.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function createSync<
  Context extends UserContext = UserContext,
  Tx = ClientBase,
  Registered extends Registry<Tx, Context> = Registry<Tx, Context>,
  Defined extends Views<Context> = Views<Context>,
>(
  options: SyncOptions<Context, Tx> & WithTx<Tx> & ApplicationTypes<Registered, Defined>,
): Promise<TypedSync<Context, Registered, Defined>> {
  return startSync(options);
}

/** The options that determine the types of a `TypedSync`. */
interface ApplicationTypes<Registered, Defined> {
  readonly mutators?: Registered | undefined;
  readonly views: Defined;
}

/** A sync, with additional functions for running several of them. */
export interface StartedSync<Context extends UserContext = UserContext> extends Sync<Context> {
  /** Returns a user's access with any types; see `TypedSync`. */
  as<Registered extends object, Defined extends Views<never>>(ctx: Context): UserAccess<Registered, Defined>;
  /** Ends what `drain` ends, but does not change `/readyz`, because another process answers on the same port. */
  endStreams(): void;
  /** The sources of its gauges. */
  readonly gaugeSources: GaugeSources;
  /** Runs the upkeep, which a sync with shared resources does not run automatically. */
  runUpkeep(): Promise<void>;
}

/** The options of `startSync`, for a sync that is one of several. */
export interface StartOptions {
  /** The resources that it shares with other syncs in its process. */
  readonly sharedResources?: SharedResources | undefined;
  /** The processes of the server, if this one is one of several. */
  readonly processes?: ProcessGroup | undefined;
}

/** Starts a sync, which can be one of several in a process or on a port. */
export async function startSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx>,
  { sharedResources, processes }: StartOptions = {},
): Promise<StartedSync<Context>> {
  const { basePath = '', rest = {}, compression = !isInNext, metrics = 'off', rates = {}, pokes } = options;
  const log = sharedResources?.log ?? resolveLogger(options.log);
  const { limits, schemaVersions } = options;
  const admission = new Admission({ limits, rates, streams: pokes, parent: sharedResources?.parentAdmission });
  const telemetry = sharedResources?.telemetry ?? (await Telemetry.start(metrics !== 'off', processes));
  const mutators = observeMutators(toMutators(options.mutators ?? defineMutators({}), options.validators), telemetry);
  const paths = syncPaths(basePath, options.paths);
  const engine = await startEngine(options, { mutators, telemetry, log, admission, sharedResources });
  const { semaphores, replicaRouter, pulls, pushes, calls, streams, hooks, watches, upkeep } = engine;
  const sample = await sampleInputFor(options);
  const readiness = new ServerReadiness({ replicaRouter, upkeep, sample });

  const { authenticate } = options;
  const shared = { authenticate, basePath, admission };
  const sync = new SyncEndpoints<Context>({ basePath, admission, compression, pulls, pushes, pokes: streams });
  const routes = [
    sync.pullRoute(paths.pull, authenticate),
    sync.pushRoute(paths.push, authenticate),
    sync.pokeRoute(paths.poke, authenticate),
    ...healthRoutes(basePath, readiness),
  ];
  const listed = listViews(options.views);
  if (rest && (mutators.size > 0 || listed.length > 0)) {
    const viewOptions = { ...shared, compression, views: listed, pulls, watches, schemaVersions };
    const views = {
      routes: viewRoutes<Context>(viewOptions),
      described: listed.map((view) => ({ ...view, rows: engine.rows.get(view.name) })),
    };
    const surface = { ...shared, mutators, calls, idempotent: true, log };
    routes.push(...restSurface({ ...rest, ...surface, views: listed.length > 0 ? views : undefined }));
  }
  const gaugeSources = { db: engine.db, semaphores, admission, replicaRouter, upkeep };
  const endObserving = sharedResources ? () => {} : observeGauges(gaugeSources, telemetry);
  if (metrics !== 'off' && telemetry.isExposed) {
    routes.push(metricsRoute({ telemetry, basePath, authenticate: metrics === 'public' ? undefined : authenticate }));
  }
  const observer = new RequestTelemetry(telemetry, sharedResources?.requestTracker);
  const userRequests = new UserRequests({ views: listed, schemaVersions, pulls, calls, admission, observer, log });
  const appOptions = { observer, admission };
  const app = createApp(routes, log, appOptions);
  const answering = (route: Route) => createHandler(route, log, appOptions);

  const endStreams = () => {
    streams.close();
    watches.close();
  };
  return {
    fetch: app.fetch,
    pull: (request, ctx, env) => answering(sync.pullRoute('*', () => ctx))(request, env),
    push: (request, ctx, env) => answering(sync.pushRoute('*', () => ctx))(request, env),
    poke: (request, ctx, env) => answering(sync.pokeRoute('*', () => ctx))(request, env),
    onPoke: (...hook) => hooks.open(...hook),
    as: (ctx) => createUserAccess(ctx, userRequests),
    disconnect: (userID) => engine.disconnect(userID),
    ready: () => replicaRouter.ready(sample),
    drain() {
      readiness.isStopping = true;
      endStreams();
    },
    endStreams,
    gaugeSources,
    runUpkeep: () => upkeep.run(),
    async close() {
      endObserving();
      await engine.close();
    },
  };
}

/** Registers the gauges of a sync with telemetry. Returns a function that removes them. */
function observeGauges(gaugeSources: GaugeSources, telemetry: Telemetry): () => void {
  const gauges = new Gauges(gaugeSources);
  telemetry.observe(gauges);
  return () => {
    telemetry.end();
    gauges.end();
  };
}
