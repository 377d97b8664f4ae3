import type { ClientBase, Pool } from 'pg';
import type { UserContext } from './context.js';
import { openPool } from './db/pg.js';
import { createForward, type ForwardOptions } from './endpoints/forward.js';
import { healthRoutes } from './endpoints/health.js';
import { PokeStreams } from './endpoints/poke-streams.js';
import { type PushRoute, syncRoutes } from './endpoints/sync.js';
import { SetupError } from './errors.js';
import { createApp } from './http/app.js';
import { type BodyLimitOptions, bodyLimits } from './http/body.js';
import type { Authenticate } from './http/identify.js';
import { checkViews } from './installation/check-views.js';
import { CurrentInstallation } from './installation/current-installation.js';
import { describeError, jsonLog, type Logger } from './log.js';
import { Tail } from './pokes/tail.js';
import { Auditor } from './pulls/auditor.js';
import { createPull } from './pulls/pull-route.js';
import { defineMutators, type Mutators } from './registry/mutators.js';
import { type Registry, toMutators, type Validators } from './registry/registry.js';
import { type RestOptions, restSurface } from './rest.js';
import { prune } from './store/retention.js';
import { ClientViews } from './view/client-views.js';
import type { Views } from './view/define.js';
import { type SampleOptions, sampleInput } from './view/sample.js';
import { Looks } from './window/looks.js';
import { type CallTransaction, callsOn } from './writes/call-transactions.js';
import type { TransactFrom } from './writes/mutate.js';
import { createPush } from './writes/push.js';

/** The options of `createSync`. */
export interface SyncOptions<Context extends UserContext, Tx> extends SampleOptions<Context> {
  /** A connection string, or your own `pg` pool, which remains yours to close. */
  readonly database: string | Pool;
  /** The client views by name. */
  readonly views: Views<Context>;
  /** What `defineMutators` returns, from this library or from `@rocicorp/zero`. Default: no mutators. */
  readonly mutators?: Registry<Tx, Context> | undefined;
  /** Validators for mutators that have none of their own, by name. Default: none. */
  readonly validators?: Validators | undefined;
  /** Returns who sent a request, or null for a 401 response. */
  readonly authenticate: Authenticate<Context>;
  /** Maps the transaction's `pg` client to the `tx` that mutators receive. Default: the client itself. */
  readonly tx?: ((client: ClientBase) => Tx) | undefined;
  /**
   * Gives each mutation of a push a transaction of its own. Otherwise, those that only read and write rows share some:
   * `now()` is then the same for them. Set it if functions in the database change settings for the rest of the
   * transaction. Default false.
   */
  readonly separateTransactions?: boolean | undefined;
  /** Forwards pushes to an application that uses this library, instead of applying them here. Default: none. */
  readonly forward?: ForwardOptions | undefined;
  /** The prefix of every path: `/sync/…`, `/api/…`, `/healthz` and `/readyz`. Default: none. */
  readonly basePath?: string | undefined;
  /** How the mutators are served as REST; false turns it off. Default: with a document and a page. */
  readonly rest?: RestOptions | false | undefined;
  /** The largest request bodies, in bytes. */
  readonly limits?: BodyLimitOptions | undefined;
  /** How clients are poked. */
  readonly pokes?: PokesOptions | undefined;
  /** How long a cookie can still be used for a delta after its last pull, in seconds. Default: a week. */
  readonly retentionSeconds?: number | undefined;
  /**
   * How much of the change log is kept, in bytes on disk. If there is more, cookies become unusable earlier. Default
   * 10 GiB.
   */
  readonly retentionBytes?: number | undefined;
  /**
   * The share of client groups, from 0 to 1, whose data is compared with their views from time to time. A client that
   * does not hold what it should is logged, counted and reset. Default 0.
   */
  readonly audit?: number | undefined;
  /**
   * How many transactions of the change log each server remembers. Pulls of clients that have not seen only these need
   * the least of the database. Default 100,000, some 10 MB; 0 turns the memory off.
   */
  readonly window?: number | undefined;
  /** Whether pulls are compressed, as the client accepts it. Turn it off if a proxy compresses. Default true. */
  readonly compression?: boolean | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** How clients are poked. */
export interface PokesOptions {
  /**
   * How often a server looks for changes to poke clients about while there are none, in milliseconds. It looks at once
   * after the pushes and calls that it serves itself, and as often as changes come while there are any. Default 200.
   */
  readonly intervalMs?: number | undefined;
  /** Also look whenever Postgres sends a notification. Set it for `migrate` too, or it has no effect. Default false. */
  readonly notify?: boolean | undefined;
  /** The most streams of pokes that one server keeps open at once. Default 10,000. */
  readonly maxStreams?: number | undefined;
}

/** Makes the option `tx` required, except for mutators of this library that take a `pg` client. */
export type WithTx<Tx> =
  | { readonly tx: (client: ClientBase) => Tx }
  | (ClientBase extends Tx ? { readonly mutators?: Mutators<never, never> | undefined } : never);

/** What `createSync` returns. */
export interface Sync {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /** Rejects with the reason while pulls cannot be answered. */
  ready(): Promise<void>;
  /** Ends the streams of pokes, which would otherwise never end, and refuses new ones. Pulls and pushes continue. */
  drain(): void;
  /** Ends the background work, and closes the connections that Tidemark opened itself. */
  close(): Promise<void>;
}

const week = 7 * 24 * 60 * 60;
const tenGiB = 10 * 1024 ** 3;
const pruneEveryMs = 60_000;

/**
 * Starts serving an application's client views and mutators from its database.
 * @throws SetupError if the database is not migrated, or a view cannot be served; the message says what to do.
 */
export async function createSync<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: SyncOptions<Context, Tx> & WithTx<Tx>,
): Promise<Sync> {
  const {
    authenticate,
    basePath = '',
    schemaVersions,
    pokes = {},
    retentionSeconds = week,
    retentionBytes = tenGiB,
    rest = {},
    audit = 0,
    window = 100_000,
    compression = true,
  } = options;
  if (!(audit >= 0 && audit <= 1)) throw new SetupError('The option `audit` must be a number from 0 to 1.');
  const limits = bodyLimits(options.limits);
  const mutators = toMutators(options.mutators ?? defineMutators({}), options.validators);
  const log = options.log ?? jsonLog();
  const db = openPool(options.database, {
    onIdleError: (error) => log.warn({ error: describeError(error) }, 'An idle connection broke'),
  });
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

  const looks = new Looks(db, installation, window);
  const tail = new Tail({
    db,
    installation,
    looks,
    log,
    intervalMs: pokes.intervalMs ?? 200,
    notify: pokes.notify ?? false,
  });
  const streams = new PokeStreams<Context>(
    (ctx, request, poke) => tail.listen(ctx, request, poke),
    pokes.maxStreams ?? 10_000,
  );
  const auditor = new Auditor(db, audit);
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const push: PushRoute<Context> = options.forward
    ? createForward(options.forward)
    : createPush({ db, tx, mutators, schemaVersions, separateTransactions: options.separateTransactions });
  const routes = [
    ...syncRoutes<Context>({
      pull: createPull({ db, installation, looks: window > 0 ? looks : undefined, auditor, schemaVersions }),
      // Even if a push failed, some of its mutations may have been committed.
      push: (...args) => push(...args).finally(() => tail.nudge()),
      pokes: streams,
      authenticate,
      basePath,
      limits,
      compression,
    }),
    ...healthRoutes({ basePath, ready, tail: () => tail.state(), audits: () => auditor.state() }),
  ];
  if (rest && mutators.size > 0) {
    const transact = callsOn(db, tx);
    const nudging: TransactFrom<CallTransaction<Tx>> = (work, first) =>
      transact(work, first).finally(() => tail.nudge());
    routes.push(
      ...restSurface({
        ...rest,
        basePath,
        mutators,
        transact: nudging,
        authenticate,
        idempotent: true,
        limit: limits.call,
        log,
      }),
    );
  }
  const app = createApp(routes, log);

  const pruning = setInterval(() => {
    prune(db, retentionSeconds, retentionBytes).catch((error: unknown) => {
      log.warn({ error: describeError(error) }, 'Could not prune the change log; trying again in a minute');
    });
  }, pruneEveryMs).unref();

  return {
    fetch: app.fetch,
    ready,
    drain: () => streams.close(),
    async close() {
      clearInterval(pruning);
      streams.close();
      tail.close();
      await db.close();
    },
  };
}
