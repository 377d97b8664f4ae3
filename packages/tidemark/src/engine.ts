import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { openDatabases } from './databases.js';
import type { Database } from './db/database.js';
import { PullService } from './endpoints/pulls/pull-service.js';
import { WantChecker } from './endpoints/pulls/want-checker.js';
import { PushService } from './endpoints/push-service.js';
import { PokeHooks } from './endpoints/subscriptions/poke-hooks.js';
import { PokeStreams } from './endpoints/subscriptions/poke-streams.js';
import { Watches } from './endpoints/subscriptions/watches.js';
import { SetupError } from './errors.js';
import { isUserID } from './http/identify.js';
import type { Admission } from './limits/admission.js';
import type { Semaphores } from './limits/semaphores.js';
import type { Logger } from './log.js';
import type { DescribedRows } from './openapi/schemas/row-schema.js';
import { OpenSubscriptions } from './pokes/open-subscriptions.js';
import type { Mutators } from './registry/mutators.js';
import type { ReplicaRouter } from './replicas/replica-router.js';
import type { SharedResources } from './shared-resources.js';
import { AuditLog } from './store/audit-log.js';
import { recordDisconnect } from './store/disconnects.js';
import { defaultRetention } from './store/retention.js';
import { SeenGroups } from './store/seen-groups.js';
import { Upkeep } from './store/upkeep.js';
import type { SyncOptions } from './sync-options.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { OwnTransactions } from './writes/calls/call-transactions.js';
import { Calls } from './writes/calls/calls.js';

const year = 365 * 24 * 60 * 60;

/** The parts that an engine needs, besides the application's options. */
export interface EngineParts<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly admission: Admission;
  /** If set, the engine runs no upkeep in the background; the owner of the resources decides when to run it. */
  readonly sharedResources?: SharedResources | undefined;
}

/** The operations of a server on its database, for any caller and any path. */
export interface Engine<Context extends UserContext, Tx> {
  /** The primary. Its statements are not traced. */
  readonly db: Database;
  readonly semaphores: Semaphores;
  readonly replicaRouter: ReplicaRouter<Context>;
  readonly pulls: PullService<Context>;
  readonly pushes: PushService<Context, Tx>;
  /** Calls over REST, and by code of the server. */
  readonly calls: Calls<Tx, Context>;
  readonly streams: PokeStreams<Context>;
  readonly hooks: PokeHooks<Context>;
  readonly watches: Watches<Context>;
  /** Ends everything that is open for a user, on all servers; see `Sync.disconnect`. */
  disconnect(userID: string): Promise<void>;
  /** The columns of each view's rows, as Postgres describes them, by the view's name. */
  readonly rows: ReadonlyMap<string, DescribedRows>;
  readonly upkeep: Upkeep;
  /** Ends the background work, and closes the connections that the engine opened. */
  close(): Promise<void>;
}

/**
 * Opens the database, and starts everything that serves it.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function startEngine<Context extends UserContext, Tx>(
  options: SyncOptions<Context, Tx>,
  parts: EngineParts<Tx, Context>,
): Promise<Engine<Context, Tx>> {
  const {
    schemaVersions,
    separateTransactions,
    mapError,
    onRefused,
    rest,
    pokes = {},
    cachedTransactions = 100_000,
    consistencyChecks = 0,
    reauthenticationSeconds = 60,
  } = options;
  const { mutators, telemetry, log, admission, sharedResources } = parts;
  if (!(reauthenticationSeconds > 0)) {
    throw new SetupError('The option `reauthenticationSeconds` must be a positive number.');
  }
  if (!(consistencyChecks >= 0 && consistencyChecks <= 1)) {
    throw new SetupError('The option `consistencyChecks` must be a number from 0 to 1.');
  }
  const auditLog = new AuditLog(options.auditLogRetentionSeconds ?? 0);
  const { intervalMs = 200 } = pokes;
  const openSubscriptions = new OpenSubscriptions();
  const shared = {
    views: options.views,
    consistencyChecks,
    log,
    cachedTransactions,
    pokes: { intervalMs, pollPacer: sharedResources?.pollPacer, openSubscriptions, metrics: telemetry },
  };
  const databases = await openDatabases(options, {
    shared,
    auditLog,
    telemetry,
    connectionBudget: sharedResources?.connectionBudget,
  });
  const { pool, primary, replicaRouter, rows } = databases;
  const { db, semaphores } = primary;
  const authenticateMs = reauthenticationSeconds * 1000;
  const wantChecker = new WantChecker(options.views, admission.limits.wants);
  const streams = new PokeStreams({ replicaRouter, admission, wantChecker, authenticateMs });
  const hooks = new PokeHooks({ replicaRouter, budget: admission.streams, log });
  const watches = new Watches(replicaRouter, admission.streams, authenticateMs);
  openSubscriptions.add(streams, hooks, watches);
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const seenGroups = new SeenGroups();
  const pushes = new PushService({
    forward: options.forward,
    db,
    tx,
    mutators,
    schemaVersions,
    separateTransactions,
    auditLog,
    mapError,
    onRefused,
    writes: semaphores.writes,
    seenGroups,
    replicaRouter,
  });
  const upkeep = new Upkeep({
    db,
    log,
    seenGroups,
    auditLog,
    retentionSeconds: options.retentionSeconds ?? defaultRetention.seconds,
    retentionBytes: options.retentionBytes ?? defaultRetention.bytes,
    clientRetentionSeconds: options.clientRetentionSeconds ?? year,
  });
  const endUpkeep = sharedResources ? () => {} : upkeep.start();
  return {
    db: pool,
    semaphores,
    replicaRouter,
    pulls: new PullService({ replicaRouter, schemaVersions, wantChecker, seenGroups, telemetry }),
    pushes,
    calls: new Calls({
      mutators,
      transactions: new OwnTransactions(db, tx, replicaRouter),
      writes: semaphores.writes,
      keyRetentionSeconds: rest ? rest.idempotencyRetentionSeconds : undefined,
      auditLog,
      mapError,
    }),
    streams,
    hooks,
    watches,
    async disconnect(userID) {
      if (!isUserID(userID)) throw new TypeError('The userID must be one that `authenticate` may return');
      openSubscriptions.disconnect(new Set([userID]));
      await recordDisconnect(db, userID);
    },
    rows,
    upkeep,
    async close() {
      endUpkeep();
      openSubscriptions.close();
      await databases.close();
    },
  };
}
