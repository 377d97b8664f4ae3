import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { openPool } from './db/pg.js';
import { createForward } from './endpoints/forward.js';
import { healthRoutes } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { PokeStreams } from './endpoints/poke-streams.js';
import { type PushRoute, syncRoutes } from './endpoints/sync.js';
import { SetupError } from './errors.js';
import { gatesFor } from './gates.js';
import { createApp } from './http/app.js';
import { admitting } from './http/identify.js';
import { checkViews } from './installation/check-views.js';
import { CurrentInstallation } from './installation/current-installation.js';
import { bodyBudget, requestLimits, spoolBudget, streamBudget } from './limits/request-limits.js';
import { describeError, jsonLog } from './log.js';
import { Tail } from './pokes/tail.js';
import { Auditor } from './pulls/auditor.js';
import { createPull } from './pulls/pull-route.js';
import { limitAddresses, limitUsers } from './rates.js';
import { defineMutators } from './registry/mutators.js';
import { toMutators } from './registry/registry.js';
import { restSurface } from './rest.js';
import { usualRetention } from './store/retention.js';
import { SeenGroups } from './store/seen-groups.js';
import { Upkeep } from './store/upkeep.js';
import type { SyncOptions, WithTx } from './sync-options.js';
import { Readings } from './telemetry/readings.js';
import { observeMutators, observeRequests } from './telemetry/requests.js';
import { Telemetry } from './telemetry/telemetry.js';
import { traced } from './telemetry/traced-database.js';
import { ClientViews } from './view/client-views.js';
import { sampleInput } from './view/sample.js';
import { Looks } from './window/looks.js';
import { type CallTransaction, callsOn } from './writes/call-transactions.js';
import type { TransactFrom } from './writes/mutate.js';
import { createPush } from './writes/push.js';

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

const year = 365 * 24 * 60 * 60;
/**
 * Starts serving an application's client views and mutators from its database.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function createSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx> & WithTx<Tx>,
): Promise<Sync> {
  const {
    basePath = '',
    schemaVersions,
    pokes = {},
    timeouts: { transactionMs = 30_000, lockMs = 10_000, statementMs = 60_000 } = {},
    retentionSeconds = usualRetention.seconds,
    retentionBytes = usualRetention.bytes,
    clientRetentionSeconds = year,
    rest = {},
    audit = 0,
    window = 100_000,
    compression = true,
    metrics = 'off',
    rates = {},
  } = options;
  if (!(audit >= 0 && audit <= 1)) throw new SetupError('The option `audit` must be a number from 0 to 1.');
  const limits = requestLimits(options.limits);
  const bodies = bodyBudget(limits);
  const spool = spoolBudget(limits);
  const telemetry = await Telemetry.start(metrics !== 'off');
  const mutators = observeMutators(toMutators(options.mutators ?? defineMutators({}), options.validators), telemetry);
  const log = options.log ?? jsonLog();
  const authenticate = limitUsers(options.authenticate, rates, log);
  const pool = openPool(options.database, {
    limits: { transactionMs, lockMs, statementMs },
    onIdleError: (error) => log.warn({ error: describeError(error) }, 'An idle connection broke'),
  });
  const db = traced(pool, telemetry.tracing);
  const views = new ClientViews(db, options.views);
  const installation = new CurrentInstallation(db, views);
  const sample = sampleInput(options);
  const ready = async () => void (await installation.bind(sample));
  try {
    await checkViews(db, await installation.bind(sample));
  } catch (error) {
    await db.close();
    throw error;
  }

  const gates = gatesFor(db.connections);
  const looks = new Looks(db, installation, window);
  const tail = new Tail({
    db,
    installation,
    looks,
    log,
    intervalMs: pokes.intervalMs ?? 200,
    notify: pokes.notify ?? false,
    onPoke: () => telemetry.count('tidemark.poke.sent'),
    onTold: (ms) => telemetry.record('tidemark.poke.delay', ms / 1000),
  });
  const openStreams = streamBudget(pokes);
  const streams = new PokeStreams<Context>((ctx, request, poke) => tail.listen(ctx, request, poke), openStreams);
  let isStopping = false;
  const auditor = new Auditor(db, audit);
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const { separateTransactions } = options;
  const applyPush = createPush({ db, tx, mutators, schemaVersions, separateTransactions });
  const push: PushRoute<Context> = options.forward
    ? createForward(options.forward)
    : (request, caller) => gates.writes.run(caller.context.userID, () => applyPush(request, caller), caller.signal);
  const pull = createPull({ db, gates, installation, looks: window > 0 ? looks : undefined, auditor, schemaVersions });
  const seen = new SeenGroups();
  const upkeep = new Upkeep({ db, log, seen, retentionSeconds, retentionBytes, clientRetentionSeconds });
  const states = { tail: () => tail.state(), audits: () => auditor.state(), upkeep: () => upkeep.state() };
  const routes = [
    ...syncRoutes<Context>({
      pull: (request, caller) => {
        if (request.cookie !== null) seen.note(request.clientGroupID);
        return pull(request, caller);
      },
      push: (request, ...rest) => {
        seen.note(request.clientGroupID);
        // Even if a push failed, some of its mutations may have been committed.
        return push(request, ...rest).finally(() => tail.nudge());
      },
      pokes: streams,
      authenticate,
      basePath,
      limits,
      bodies,
      spool,
      compression,
    }),
    ...healthRoutes({ basePath, ready, isStopping: () => isStopping, ...states }),
  ];
  if (rest && mutators.size > 0) {
    const transact = callsOn(db, tx);
    const nudging: TransactFrom<CallTransaction<Tx>> = (...args) => transact(...args).finally(() => tail.nudge());
    routes.push(
      ...restSurface({
        ...rest,
        basePath,
        mutators,
        transact: nudging,
        admit: ({ context, signal }, work) => gates.writes.run(context.userID, work, signal),
        authenticate,
        idempotent: true,
        limit: limits.call,
        bodies,
        log,
      }),
    );
  }
  const { exposition } = telemetry;
  if (metrics !== 'off' && exposition) {
    routes.push(metricsRoute({ exposition, basePath, admit: admitting(metrics, authenticate) }));
  }
  const readings = new Readings({ db: pool, gates, bodies, spool, streams: openStreams, ...states });
  telemetry.observe(() => readings.read());
  const app = createApp(routes, log, { observer: observeRequests(telemetry), admit: limitAddresses(rates) });

  const endUpkeep = upkeep.start();

  return {
    fetch: app.fetch,
    ready,
    drain() {
      isStopping = true;
      streams.close();
    },
    async close() {
      endUpkeep();
      telemetry.end();
      readings.end();
      streams.close();
      tail.close();
      await db.close();
    },
  };
}
