import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { openDatabases } from './databases.js';
import type { Database } from './db/database.js';
import { createForward } from './endpoints/forward.js';
import { PokeHooks } from './endpoints/listening/poke-hooks.js';
import { type Listen, PokeStreams } from './endpoints/listening/poke-streams.js';
import { Watches } from './endpoints/listening/watches.js';
import type { PushRoute } from './endpoints/sync.js';
import { SetupError } from './errors.js';
import type { Gates } from './gates.js';
import { type Caller, isUserID } from './http/identify.js';
import type { Budget } from './limits/budget.js';
import { streamBudget } from './limits/request-limits.js';
import type { Logger } from './log.js';
import type { DescribedRows } from './openapi/schemas/row-schema.js';
import { noGroup } from './protocol/pull.js';
import { type PullRoute, pullRoute, type ReadRoute } from './pulls/pull-route.js';
import type { Mutators } from './registry/mutators.js';
import { recordDisconnect } from './store/disconnects.js';
import { Journal } from './store/journal.js';
import { usualRetention } from './store/retention.js';
import { SeenGroups } from './store/seen-groups.js';
import { Upkeep } from './store/upkeep.js';
import type { Surroundings } from './surroundings.js';
import type { SyncOptions } from './sync-options.js';
import type { ReadingSources } from './telemetry/readings.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { sampleInput } from './view/sample.js';
import { type CallTransaction, callsOn } from './writes/call-transactions.js';
import type { TransactFrom } from './writes/mutate.js';
import { createPush } from './writes/push.js';

const year = 365 * 24 * 60 * 60;

/** What an engine is made with, besides the application's options. */
export interface EngineParts<Tx, Context> {
  readonly mutators: Mutators<Tx, Context>;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  /** If there are any, they say when the upkeep is done. */
  readonly surroundings?: Surroundings | undefined;
}

/** What a server does with its database, whoever asks for it and by which path. */
export interface Engine<Context extends UserContext, Tx> {
  /** Its statements are not traced. */
  readonly db: Database;
  readonly gates: Gates;
  /** Does the work of a call when there is a place for it. */
  readonly admit: <T>(caller: Caller<Context>, work: () => Promise<T>) => Promise<T>;
  readonly journal: Journal;
  readonly pull: PullRoute<Context>;
  readonly read: ReadRoute<Context>;
  readonly push: PushRoute<Context>;
  /** Runs calls in transactions. */
  readonly transact: TransactFrom<CallTransaction<Tx>>;
  readonly streams: PokeStreams<Context>;
  readonly hooks: PokeHooks<Context>;
  readonly watches: Watches<Context>;
  /** As `Sync.disconnect`. */
  disconnect(userID: string): Promise<void>;
  /** What Postgres says about the rows of each view, by its name. */
  readonly rows: ReadonlyMap<string, DescribedRows>;
  /** How many streams are open, and how many may be. */
  readonly openStreams: Budget;
  readonly states: Pick<ReadingSources, 'tail' | 'audits' | 'standbys' | 'upkeep'>;
  readonly upkeep: Upkeep;
  /** Rejects with the reason while pulls cannot be answered. */
  ready(): Promise<void>;
  /** Ends the background work, and closes the connections that were opened here. */
  close(): Promise<void>;
}

/**
 * Opens the database, and starts what serves it.
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
    window = 100_000,
    audit = 0,
    reauthenticationSeconds = 60,
  } = options;
  const { mutators, telemetry, log, surroundings } = parts;
  if (!(reauthenticationSeconds > 0)) {
    throw new SetupError('The option `reauthenticationSeconds` must be a positive number.');
  }
  if (!(audit >= 0 && audit <= 1)) throw new SetupError('The option `audit` must be a number from 0 to 1.');
  const journal = new Journal(options.journalRetentionSeconds ?? 0);
  const { intervalMs = 200 } = pokes;
  const shared = {
    views: options.views,
    audit,
    log,
    window,
    intervalMs: () => surroundings?.lookIntervalMs(intervalMs) ?? intervalMs,
    onDisconnect: (userIDs: ReadonlySet<string>) => endListeners(userIDs),
    onPoke: () => telemetry.count('tidemark.poke.sent'),
    onTold: (ms: number) => telemetry.record('tidemark.poke.delay', ms / 1000),
  };
  const databases = await openDatabases(options, { shared, journal, telemetry, stock: surroundings?.stock });
  const { pool, primary, sources, rows } = databases;
  const { db, gates } = primary;
  const openStreams = streamBudget(pokes, surroundings?.within.streams);
  const listen: Listen<Context> = (ctx, clients, poke) => sources.listen(ctx, clients, poke);
  const authenticateMs = reauthenticationSeconds * 1000;
  const streams = new PokeStreams(listen, openStreams, authenticateMs);
  const hooks = new PokeHooks({ listen, budget: openStreams, log });
  const watches = new Watches<Context>(
    (ctx, { part, ...input }, poke) => sources.listen(ctx, { ...input, clientGroupID: noGroup }, poke, part),
    openStreams,
    authenticateMs,
  );
  const endListeners = (userIDs: ReadonlySet<string>) => {
    for (const held of [streams, hooks, watches]) held.disconnect(userIDs);
  };
  const pull = pullRoute<Context>((request, caller) => sources.pull(request, caller), schemaVersions);
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const applyPush = createPush({
    db,
    tx,
    mutators,
    schemaVersions,
    separateTransactions,
    journal,
    mapError,
    onRefused,
  });
  const admit: Engine<Context, Tx>['admit'] = ({ context, signal }, work) =>
    gates.writes.run(context.userID, work, signal);
  const push: PushRoute<Context> = options.forward
    ? createForward(options.forward)
    : (request, caller) => admit(caller, () => applyPush(request, caller));
  const transact = callsOn(db, tx);
  const seen = new SeenGroups();
  const upkeep = new Upkeep({
    db,
    log,
    seen,
    journal,
    retentionSeconds: options.retentionSeconds ?? usualRetention.seconds,
    retentionBytes: options.retentionBytes ?? usualRetention.bytes,
    clientRetentionSeconds: options.clientRetentionSeconds ?? year,
  });
  const endUpkeep = surroundings ? () => {} : upkeep.start();
  return {
    db: pool,
    gates,
    admit,
    journal,
    pull(request, caller) {
      if (request.cookie !== null) seen.note(request.clientGroupID);
      const version = schemaVersions?.includes(request.schemaVersion) ? request.schemaVersion : 'other';
      telemetry.count('tidemark.pull.requests', { version });
      return pull(request, caller);
    },
    read: (request, caller) => sources.read(request, caller),
    push(request, ...rest) {
      seen.note(request.clientGroupID);
      // Even if a push failed, some of its mutations may have been committed.
      return push(request, ...rest).finally(() => sources.nudge());
    },
    transact: (...args) => transact(...args).finally(() => sources.nudge()),
    streams,
    hooks,
    watches,
    async disconnect(userID) {
      if (!isUserID(userID)) throw new TypeError('The userID must be one that `authenticate` may return');
      endListeners(new Set([userID]));
      await recordDisconnect(db, userID);
    },
    rows,
    openStreams,
    states: {
      tail: () => sources.tail(),
      audits: () => sources.audits(),
      standbys: () => sources.standbys(),
      upkeep: () => upkeep.state(),
    },
    upkeep,
    ready: () => sources.ready(sampleInput(options)),
    async close() {
      endUpkeep();
      streams.close();
      hooks.close();
      watches.close();
      await databases.close();
    },
  };
}
