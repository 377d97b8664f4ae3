/** The options with which an application starts a server. */
import type { ClientBase, Pool, PoolClient } from 'pg';
import type { UserContext } from './context.js';
import type { ForwardOptions } from './endpoints/forward.js';
import type { SyncPathOptions } from './endpoints/sync-paths.js';
import type { MapError } from './errors.js';
import type { Authenticate, Visibility } from './http/identify.js';
import type { RateOptions } from './limits/rates.js';
import type { RequestLimitOptions } from './limits/request-limits.js';
import type { Logger } from './log.js';
import type { Mutators } from './registry/mutators.js';
import type { Registry, Validators } from './registry/registry.js';
import type { RestOptions } from './rest.js';
import type { Views } from './view/define.js';
import type { SampleOptions } from './view/sample.js';
import type { OnRefused } from './writes/refused-mutations.js';

/** The options of `createSync`. */
export interface SyncOptions<Context extends UserContext, Tx> extends SampleOptions<Context> {
  /** A connection string, or your own `pg` pool, which remains yours to close. */
  readonly database: string | Pool;
  /**
   * Standbys of the database, each a connection string or your own `pg` pool. Pulls and reads go to a standby that
   * shows everything the client has seen and written. Default: none.
   */
  readonly readDatabase?: string | Pool | readonly (string | Pool)[] | undefined;
  /** The client views by name. */
  readonly views: Views<Context>;
  /** The result of `defineMutators`, from this library or from `@rocicorp/zero`. Default: no mutators. */
  readonly mutators?: Registry<Tx, Context> | undefined;
  /** Validators for mutators that have none of their own, by name. Default: none. */
  readonly validators?: Validators | undefined;
  /** Returns who sent a request, or null for a 401 response. */
  readonly authenticate: Authenticate<Context>;
  /**
   * Seconds after which the server calls `authenticate` again for each stream and each waiting request. It also does so
   * before it sends rows, if the last call was more than five seconds ago. Default 60.
   */
  readonly reauthenticationSeconds?: number | undefined;
  /**
   * Maps the transaction's `pg` client to the `tx` that mutators receive. Transactions that mutators begin on it become
   * savepoints. Default: the client itself.
   */
  readonly tx?: ((client: PoolClient) => Tx) | undefined;
  /**
   * Runs each mutation of a push in a transaction of its own. Otherwise, mutations that only read and write rows share
   * transactions, and see the same `now()`. Set it if functions in the database change settings for the rest of the
   * transaction. Default false.
   */
  readonly separateTransactions?: boolean | undefined;
  /**
   * Called with the error after a mutation of a push has failed permanently and is skipped. The push does not wait for
   * it. Errors that it throws are only logged. If the server is killed in between, it is not called. Default: none.
   */
  readonly onRefused?: OnRefused<Context> | undefined;
  /**
   * Maps the application's own errors, such as a violated constraint, to a refusal with a status, or to undefined for
   * the default: 409 for conflicts with other rows, 422 for invalid values, 500 for other errors.
   */
  readonly mapError?: MapError | undefined;
  /** Forwards pushes to an application that uses this library, instead of applying them here. Default: none. */
  readonly forward?: ForwardOptions | undefined;
  /** The prefix of every path: `/sync/…`, `/api/…`, `/healthz` and `/readyz`. Default: none. */
  readonly basePath?: string | undefined;
  /** Other paths for pulls, pushes and pokes, after `basePath`. They can have parameters: `/spaces/:space/pull`. */
  readonly paths?: SyncPathOptions | undefined;
  /** The options of the REST surface; false turns it off. Default: on, with an OpenAPI document and its page. */
  readonly rest?: RestOptions | false | undefined;
  /** The size limits of requests. */
  readonly limits?: RequestLimitOptions | undefined;
  /** The rate limits of requests. */
  readonly rates?: RateOptions | undefined;
  /** The time limits of work in the database. */
  readonly timeouts?: TimeoutOptions | undefined;
  /** The options of pokes. */
  readonly pokes?: PokesOptions | undefined;
  /** Seconds after its last pull for which a cookie remains usable for a delta. Default: a week. */
  readonly retentionSeconds?: number | undefined;
  /**
   * The maximum size of the change log, in bytes on disk. If more is written, cookies become unusable earlier. Default
   * 10 GiB.
   */
  readonly retentionBytes?: number | undefined;
  /**
   * Seconds for which the server keeps the record of a client group that neither pulls nor pushes. After that, its
   * clients start over, and lose what they have not pushed. Default: a year.
   */
  readonly clientRetentionSeconds?: number | undefined;
  /**
   * Seconds for which the audit log records who called which mutator, when, and with what outcome. Default 0: there is
   * no audit log.
   */
  readonly auditLogRetentionSeconds?: number | undefined;
  /**
   * The share of client groups, from 0 to 1, whose data the server compares with their views from time to time. If a
   * client's data differs, the server logs and counts it, and resets the client. Default 0.
   */
  readonly consistencyChecks?: number | undefined;
  /**
   * The number of transactions of the change log that each server caches. Pulls of clients that lack no others put the
   * least load on the database. Default 100,000, about 10 MB; 0 turns the cache off.
   */
  readonly cachedTransactions?: number | undefined;
  /**
   * True to compress pulls, if the client accepts it. Turn it off if a proxy compresses. Default true, but false in
   * Next.js, which compresses responses itself.
   */
  readonly compression?: boolean | undefined;
  /** Who can read metrics at `/metrics`, in Prometheus's format. Default `off`: there is no such path. */
  readonly metrics?: Visibility | 'off' | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** The time limits of work in the database, in milliseconds. A request that exceeds one gets a 503, and can retry. */
export interface TimeoutOptions {
  /** A transaction of mutators, with everything they do in it. Default 30,000. */
  readonly transactionMs?: number | undefined;
  /** The wait for a lock in a transaction of mutators. Default 10,000. */
  readonly lockMs?: number | undefined;
  /** A statement of a pull, up to its first rows. Default 60,000. */
  readonly statementMs?: number | undefined;
}

/** The options of pokes. */
export interface PokesOptions {
  /**
   * The interval at which a server polls the change log after minutes without changes, in milliseconds. For five seconds
   * after a change, it polls at a 30th of that interval or less. It polls immediately after pushes and calls that it
   * serves itself. Default 200.
   */
  readonly intervalMs?: number | undefined;
  /** Also poll whenever Postgres sends a notification. Set it for `migrate` too, or it has no effect. Default false. */
  readonly notify?: boolean | undefined;
  /** The maximum number of streams of pokes that are open on one server. Default 10,000. */
  readonly maxStreams?: number | undefined;
  /** The maximum number of these for one user. Default: a tenth of `maxStreams`. */
  readonly maxStreamsPerUser?: number | undefined;
}

/** Makes the option `tx` required, except for mutators of this library that take a `pg` client. */
export type WithTx<Tx> =
  | { readonly tx: (client: PoolClient) => Tx }
  | (ClientBase extends Tx ? { readonly mutators?: Mutators<never, never> | undefined } : never);
