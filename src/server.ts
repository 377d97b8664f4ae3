import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { healthRoutes } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { syncRoutes } from './endpoints/sync.js';
import { viewRoutes } from './endpoints/views.js';
import { startEngine } from './engine.js';
import { createApp } from './http/app.js';
import { admitting } from './http/identify.js';
import { bodyBudget, requestLimits, spoolBudget } from './limits/request-limits.js';
import { jsonLog } from './log.js';
import { limitAddresses, limitUsers } from './rates.js';
import { defineMutators } from './registry/mutators.js';
import { toMutators } from './registry/registry.js';
import { restSurface } from './rest.js';
import type { SyncOptions, WithTx } from './sync-options.js';
import { Readings } from './telemetry/readings.js';
import { observeMutators, observeRequests } from './telemetry/requests.js';
import { Telemetry } from './telemetry/telemetry.js';
import { listViews } from './view/client-views.js';

/** What `createSync` returns. */
export interface Sync {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
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

/**
 * Starts serving an application's client views and mutators from its database.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function createSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx> & WithTx<Tx>,
): Promise<Sync> {
  const { basePath = '', rest = {}, compression = true, metrics = 'off', rates = {} } = options;
  const log = options.log ?? jsonLog();
  const limits = requestLimits(options.limits);
  const bodies = bodyBudget(limits);
  const spool = spoolBudget(limits);
  const telemetry = await Telemetry.start(metrics !== 'off');
  const mutators = observeMutators(toMutators(options.mutators ?? defineMutators({}), options.validators), telemetry);
  const authenticate = limitUsers(options.authenticate, rates, log);
  const engine = await startEngine(options, { mutators, telemetry, log });
  const { gates, admit, journal, pull, read, push, streams, watches, transact, states, ready } = engine;
  let isStopping = false;

  const shared = { authenticate, basePath, bodies };
  const delivery = { spool, compression };
  const routes = [
    ...syncRoutes<Context>({ ...shared, ...delivery, pull, push, pokes: streams, limits }),
    ...healthRoutes({ basePath, ready, isStopping: () => isStopping, ...states }),
  ];
  const listed = listViews(options.views);
  if (rest && (mutators.size > 0 || listed.length > 0)) {
    const { schemaVersions } = options;
    const reading = { ...shared, ...delivery, views: listed, read, watches, schemaVersions };
    const views = {
      routes: viewRoutes<Context>(reading),
      described: listed.map((view) => ({ ...view, rows: engine.rows.get(view.name) })),
    };
    const surface = { ...shared, mutators, transact, admit, idempotent: true, limit: limits.call, journal, log };
    routes.push(...restSurface({ ...rest, ...surface, views: listed.length > 0 ? views : undefined }));
  }
  const { exposition } = telemetry;
  if (metrics !== 'off' && exposition) {
    routes.push(metricsRoute({ exposition, basePath, admit: admitting(metrics, authenticate) }));
  }
  const readings = new Readings({ db: engine.db, gates, bodies, spool, streams: engine.openStreams, ...states });
  telemetry.observe(() => readings.read());
  const app = createApp(routes, log, { observer: observeRequests(telemetry), admit: limitAddresses(rates) });

  return {
    fetch: app.fetch,
    ready,
    drain() {
      isStopping = true;
      streams.close();
      watches.close();
    },
    async close() {
      telemetry.end();
      readings.end();
      await engine.close();
    },
  };
}
