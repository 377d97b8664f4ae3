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
import { Puller } from './pulls/pull.js';
import { defineMutators, type Mutators } from './registry/mutators.js';
import { type Registry, toMutators, type Validators } from './registry/registry.js';
import { queryOn, type RestOptions, restSurface } from './rest.js';
import { prune } from './store/retention.js';
import { ClientViews } from './view/client-views.js';
import type { Views } from './view/define.js';
import { type SampleOptions, sampleInput } from './view/sample.js';
import type { CallTransaction } from './writes/calls.js';
import type { Transact } from './writes/mutate.js';
import { createPush } from './writes/push.js';

export interface SyncOptions<Context extends UserContext, Tx> extends SampleOptions<Context> {
  /** A connection string, or a pool of the application's own, which stays the application's to close. */
  readonly database: string | Pool;
  readonly views: Views<Context>;
  readonly mutators?: Registry<Tx, Context> | undefined;
  /** Validators for mutators that bring none, by name. */
  readonly validators?: Validators | undefined;
  /** Says who sends a request; null answers 401. */
  readonly authenticate: Authenticate<Context>;
  /** Makes of the transaction's `pg` client what mutators get as `tx`. Default: the client itself. */
  readonly tx?: ((client: ClientBase) => Tx) | undefined;
  /** Sends pushes on to an application that has mounted this library, instead of applying them here. */
  readonly forward?: ForwardOptions | undefined;
  /** What stands before every path: `/sync/…`, `/api/…`, `/healthz` and `/readyz`. Default: nothing. */
  readonly basePath?: string | undefined;
  /** How the mutators are served to REST callers; false for not at all. */
  readonly rest?: RestOptions | false | undefined;
  /** The largest request bodies, in bytes. */
  readonly limits?: BodyLimitOptions | undefined;
  /** How clients are poked. */
  readonly pokes?: PokesOptions | undefined;
  /** How long a cookie stays good for a delta without a pull, in seconds. Default: a week. */
  readonly retentionSeconds?: number | undefined;
  /**
   * The part of all client groups, from 0 to 1, whose data is compared with their views now and then. One that does not
   * hold what it should is logged, counted and reset. Default 0.
   */
  readonly audit?: number | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

export interface PokesOptions {
  /**
   * How often a server looks for changes to poke clients about, in milliseconds. Its own pushes it tells at once.
   * Default 100.
   */
  readonly intervalMs?: number | undefined;
  /** Also look whenever Postgres notifies. Has an effect when `migrate` was given it too. Default false. */
  readonly notify?: boolean | undefined;
  /** The most streams of pokes that one server keeps open. Default 10,000. */
  readonly maxStreams?: number | undefined;
}

/** Makes the option `tx` required, except for this library's mutators that take a `pg` client. */
export type WithTx<Tx> =
  | { readonly tx: (client: ClientBase) => Tx }
  | (ClientBase extends Tx ? { readonly mutators?: Mutators<never, never> | undefined } : never);

export interface Sync {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /** Rejects, saying why, while pulls cannot be answered. */
  ready(): Promise<void>;
  /** Ends the streams of pokes, which would never end by themselves, and takes no new ones. Pulls and pushes go on. */
  drain(): void;
  /** Ends background work and the connections that are Tidemark's own. */
  close(): Promise<void>;
}

const week = 7 * 24 * 60 * 60;
const pruneEveryMs = 60_000;

/**
 * Starts serving an application's client views and mutators over its database.
 * @throws SetupError when the database is not migrated, or a view can never be right; the message says what to do.
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
    rest = {},
    audit = 0,
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

  const tail = new Tail({
    database: db,
    installation,
    log,
    intervalMs: pokes.intervalMs ?? 100,
    notify: pokes.notify ?? false,
  });
  const streams = new PokeStreams<Context>(
    (ctx, request, poke) => tail.listen(ctx, request, poke),
    pokes.maxStreams ?? 10_000,
  );
  const auditor = new Auditor(db, audit);
  const puller = new Puller({ database: db, installation, auditor, schemaVersions });
  const tx = options.tx ?? ((client: ClientBase) => client as Tx);
  const push: PushRoute<Context> = options.forward
    ? createForward(options.forward)
    : createPush({ db, tx, mutators, schemaVersions });
  const routes = [
    ...syncRoutes<Context>({
      pull: (request, caller) => puller.pull(request, caller),
      // Whatever became of a push, something of it may have been committed.
      push: (...args) => push(...args).finally(() => tail.nudge()),
      pokes: streams,
      authenticate,
      basePath,
      limits,
    }),
    ...healthRoutes({ basePath, ready, tail: () => tail.state(), audits: () => auditor.state() }),
  ];
  if (rest && mutators.size > 0) {
    const transact: Transact<CallTransaction<Tx>> = (work) =>
      db.transact((client) => work({ tx: tx(client), query: queryOn(client) })).finally(() => tail.nudge());
    routes.push(
      ...restSurface({
        ...rest,
        basePath,
        mutators,
        transact,
        authenticate,
        idempotent: true,
        limit: limits.call,
        log,
      }),
    );
  }
  const app = createApp(routes, log);

  const pruning = setInterval(() => {
    prune(db, retentionSeconds).catch((error: unknown) => {
      log.warn({ error: describeError(error) }, 'The change log could not be pruned; the next try is in a minute');
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
