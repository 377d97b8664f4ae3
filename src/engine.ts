import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { openDatabases } from './databases.js';
import type { Database } from './db/database.js';
import { createForward } from './endpoints/forward.js';
import { PullService } from './endpoints/pull-service.js';
import { PokeHooks } from './endpoints/subscriptions/poke-hooks.js';
import { PokeStreams, type Subscribe } from './endpoints/subscriptions/poke-streams.js';
import { Watches } from './endpoints/subscriptions/watches.js';
import type { PushRoute } from './endpoints/sync.js';
import { SetupError } from './errors.js';
import { type Caller, isUserID } from './http/identify.js';
import type { Budget } from './limits/budget.js';
import { streamBudget } from './limits/request-limits.js';
import type { Logger } from './log.js';
import type { DescribedRows } from './openapi/schemas/row-schema.js';
import { noGroup } from './protocol/pull.js';
import type { Mutators } from './registry/mutators.js';
import type { Semaphores } from './semaphores.js';
import type { SharedResources } from './shared-resources.js';
import { AuditLog } from './store/audit-log.js';
import { recordDisconnect } from './store/disconnects.js';
import { defaultRetention } from './store/retention.js';
import { SeenGroups } from './store/seen-groups.js';
import { Upkeep } from './store/upkeep.js';
import type { SyncOptions } from './sync-options.js';
import type { GaugeSources } from './telemetry/gauges.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { sampleInput } from './view/sample.js';
import { type CallTransaction, callsOn } from './writes/call-transactions.js';
import type { TransactFrom } from './writes/mutate.js';
import { createPush } from './writes/push.js';

const year = 365 * 24 * 60 * 60;

/** The parts that an engine needs, besides the application's options. */
export interface EngineParts<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  /** If set, the engine runs no upkeep in the background; the owner of the resources decides when to run it. */
  readonly sharedResources?: SharedResources | undefined;
}

/** The operations of a server on its database, for any caller and any path. */
export interface Engine<Context extends UserContext, Tx> {
  /** The primary. Its statements are not traced. */
  readonly db: Database;
  readonly semaphores: Semaphores;
  /** Runs the work of a call or a push once a permit for writes is free. */
  readonly admit: <T>(caller: Caller<Context>, work: () => Promise<T>) => Promise<T>;
  readonly auditLog: AuditLog;
  readonly pulls: PullService<Context>;
  readonly push: PushRoute<Context>;
  /** Runs calls in transactions. */
  readonly transact: TransactFrom<CallTransaction<Tx>>;
  readonly streams: PokeStreams<Context>;
  readonly hooks: PokeHooks<Context>;
  readonly watches: Watches<Context>;
  /** Ends everything that is open for a user, on all servers; see `Sync.disconnect`. */
  disconnect(userID: string): Promise<void>;
  /** The columns of each view's rows, as Postgres describes them, by the view's name. */
  readonly rows: ReadonlyMap<string, DescribedRows>;
  /** The budget of open streams. */
  readonly openStreams: Budget;
  readonly states: Pick<GaugeSources, 'notifier' | 'consistencyChecks' | 'standbys' | 'upkeep'>;
  readonly upkeep: Upkeep;
  /** Rejects with the reason while the server cannot answer pulls. */
  ready(): Promise<void>;
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
    pokes = {},
    cachedTransactions = 100_000,
    consistencyChecks = 0,
    reauthenticationSeconds = 60,
  } = options;
  const { mutators, telemetry, log, sharedResources } = parts;
  if (!(reauthenticationSeconds > 0)) {
    throw new SetupError('The option `reauthenticationSeconds` must be a positive number.');
  }
  if (!(consistencyChecks >= 0 && consistencyChecks <= 1)) {
    throw new SetupError('The option `consistencyChecks` must be a number from 0 to 1.');
  }
  const auditLog = new AuditLog(options.auditLogRetentionSeconds ?? 0);
  const { intervalMs = 200 } = pokes;
  const shared = {
    views: options.views,
    consistencyChecks,
    log,
    cachedTransactions,
    intervalMs: () => sharedResources?.pollIntervalMs(intervalMs) ?? intervalMs,
    onDisconnect: (userIDs: ReadonlySet<string>) => endSubscriptions(userIDs),
    onPoke: () => telemetry.count('tidemark.poke.sent'),
    onPokeDelay: (ms: number) => telemetry.record('tidemark.poke.delay', ms / 1000),
  };
  const databases = await openDatabases(options, {
    shared,
    auditLog,
    telemetry,
    connectionBudget: sharedResources?.connectionBudget,
  });
  const { pool, primary, replicaRouter, rows } = databases;
  const { db, semaphores } = primary;
  const openStreams = streamBudget(pokes, sharedResources?.parentBudgets.streams);
  const listen: Subscribe<Context> = (ctx, clients, poke) => replicaRouter.subscribe(ctx, clients, poke);
  const authenticateMs = reauthenticationSeconds * 1000;
  const streams = new PokeStreams(listen, openStreams, authenticateMs);
  const hooks = new PokeHooks({ subscribe: listen, budget: openStreams, log });
  const watches = new Watches<Context>(
    (ctx, { part, ...input }, poke) => replicaRouter.subscribe(ctx, { ...input, clientGroupID: noGroup }, poke, part),
    openStreams,
    authenticateMs,
  );
  const endSubscriptions = (userIDs: ReadonlySet<string>) => {
    for (const subscriptions of [streams, hooks, watches]) subscriptions.disconnect(userIDs);
  };
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const applyPush = createPush({
    db,
    tx,
    mutators,
    schemaVersions,
    separateTransactions,
    auditLog,
    mapError,
    onRefused,
  });
  const admit: Engine<Context, Tx>['admit'] = ({ context, signal }, work) =>
    semaphores.writes.run(context.userID, work, signal);
  const push: PushRoute<Context> = options.forward
    ? createForward(options.forward)
    : (request, caller) => admit(caller, () => applyPush(request, caller));
  const transact = callsOn(db, tx);
  const seen = new SeenGroups();
  const upkeep = new Upkeep({
    db,
    log,
    seenGroups: seen,
    auditLog,
    retentionSeconds: options.retentionSeconds ?? defaultRetention.seconds,
    retentionBytes: options.retentionBytes ?? defaultRetention.bytes,
    clientRetentionSeconds: options.clientRetentionSeconds ?? year,
  });
  const endUpkeep = sharedResources ? () => {} : upkeep.start();
  return {
    db: pool,
    semaphores,
    admit,
    auditLog,
    pulls: new PullService({ replicaRouter, schemaVersions, seenGroups: seen, telemetry }),
    push(request, ...rest) {
      seen.note(request.clientGroupID);
      // Even if a push fails, some of its mutations may have committed.
      return push(request, ...rest).finally(() => replicaRouter.wake());
    },
    transact: (...args) => transact(...args).finally(() => replicaRouter.wake()),
    streams,
    hooks,
    watches,
    async disconnect(userID) {
      if (!isUserID(userID)) throw new TypeError('The userID must be one that `authenticate` may return');
      endSubscriptions(new Set([userID]));
      await recordDisconnect(db, userID);
    },
    rows,
    openStreams,
    states: {
      notifier: () => replicaRouter.notifierState(),
      consistencyChecks: () => replicaRouter.consistencyState(),
      standbys: () => replicaRouter.standbys(),
      upkeep: () => upkeep.state(),
    },
    upkeep,
    ready: () => replicaRouter.ready(sampleInput(options)),
    async close() {
      endUpkeep();
      streams.close();
      hooks.close();
      watches.close();
      await databases.close();
    },
  };
}
