/** What an application says when it starts serving. */
import type { ClientBase, Pool, PoolClient } from 'pg';
import type { UserContext } from './context.js';
import type { ForwardOptions } from './endpoints/forward.js';
import type { SyncPathOptions } from './endpoints/sync-paths.js';
import type { MapError } from './errors.js';
import type { Audience, Authenticate } from './http/identify.js';
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
   * Standbys of the database, each a connection string or your own `pg` pool. Pulls and reads go to them, as long as they
   * show what the client has seen and written. Default: none.
   */
  readonly readDatabase?: string | Pool | readonly (string | Pool)[] | undefined;
  /** The client views by name. */
  readonly views: Views<Context>;
  /** What `defineMutators` returns, from this library or from `@rocicorp/zero`. Default: no mutators. */
  readonly mutators?: Registry<Tx, Context> | undefined;
  /** Validators for mutators that have none of their own, by name. Default: none. */
  readonly validators?: Validators | undefined;
  /** Returns who sent a request, or null for a 401 response. */
  readonly authenticate: Authenticate<Context>;
  /**
   * The seconds after which `authenticate` is called again for each stream and each request that waits. It is also called
   * before rows are sent, if the last call was more than five seconds ago. Default 60.
   */
  readonly reauthenticationSeconds?: number | undefined;
  /**
   * Maps the transaction's `pg` client to the `tx` that mutators receive. Transactions that they begin on it are
   * savepoints. Default: the client itself.
   */
  readonly tx?: ((client: PoolClient) => Tx) | undefined;
  /**
   * Gives each mutation of a push a transaction of its own. Otherwise, those that only read and write rows share some:
   * `now()` is then the same for them. Set it if functions in the database change settings for the rest of the
   * transaction. Default false.
   */
  readonly separateTransactions?: boolean | undefined;
  /**
   * Called after a mutation of a push has failed for good and is skipped, with what it has thrown. Nobody waits for it;
   * what it throws is logged, and changes nothing. If the server is killed in between, it is not called. Default: none.
   */
  readonly onRefused?: OnRefused<Context> | undefined;
  /**
   * Says what errors of the application's own mean, such as a violated constraint: a refusal with a status, or undefined
   * for the usual meaning. Default: violated constraints and unacceptable values are 409 and 422, other errors 500.
   */
  readonly mapError?: MapError | undefined;
  /** Forwards pushes to an application that uses this library, instead of applying them here. Default: none. */
  readonly forward?: ForwardOptions | undefined;
  /** The prefix of every path: `/sync/…`, `/api/…`, `/healthz` and `/readyz`. Default: none. */
  readonly basePath?: string | undefined;
  /** Other paths for pulls, pushes and pokes, after `basePath`. They may have parameters: `/spaces/:space/pull`. */
  readonly paths?: SyncPathOptions | undefined;
  /** How the mutators are served as REST; false turns it off. Default: with a document and a page. */
  readonly rest?: RestOptions | false | undefined;
  /** How much requests may bring along. */
  readonly limits?: RequestLimitOptions | undefined;
  /** How often requests may come. */
  readonly rates?: RateOptions | undefined;
  /** How long work in the database may take. */
  readonly timeouts?: TimeoutOptions | undefined;
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
   * How long a client group is remembered that neither pulls nor pushes, in seconds. After that, its clients start over,
   * and what they have not pushed is lost. Default: a year.
   */
  readonly clientRetentionSeconds?: number | undefined;
  /**
   * How long the journal keeps who called which mutator, when, and what became of it, in seconds. Default 0: there is no
   * journal.
   */
  readonly journalRetentionSeconds?: number | undefined;
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
  /**
   * Whether pulls are compressed, as the client accepts it. Turn it off if a proxy compresses. Default true, but false in
   * Next.js, which compresses by itself.
   */
  readonly compression?: boolean | undefined;
  /** Who may read metrics at `/metrics`, in Prometheus's format. Default `off`: nobody. */
  readonly metrics?: Audience | 'off' | undefined;
  /** Where log lines go. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** How long work in the database may take, in milliseconds. Whoever waited is told to try again. */
export interface TimeoutOptions {
  /** A transaction of mutators, with all that they do in it. Default 30,000. */
  readonly transactionMs?: number | undefined;
  /** Waiting for a lock in such a transaction. Default 10,000. */
  readonly lockMs?: number | undefined;
  /** A statement of a pull, up to its first rows. Default 60,000. */
  readonly statementMs?: number | undefined;
}

/** How clients are poked. */
export interface PokesOptions {
  /**
   * How often a server looks for changes to poke clients about while there are none for minutes, in milliseconds. For ten
   * seconds after a change it looks each 30th of that. It looks at once after the pushes and calls that it serves itself.
   * Default 200.
   */
  readonly intervalMs?: number | undefined;
  /** Also look whenever Postgres sends a notification. Set it for `migrate` too, or it has no effect. Default false. */
  readonly notify?: boolean | undefined;
  /** The most streams of pokes that one server keeps open at once. Default 10,000. */
  readonly maxStreams?: number | undefined;
  /** The most of these for one user. Default: a tenth of them. */
  readonly maxStreamsPerUser?: number | undefined;
}

/** Makes the option `tx` required, except for mutators of this library that take a `pg` client. */
export type WithTx<Tx> =
  | { readonly tx: (client: PoolClient) => Tx }
  | (ClientBase extends Tx ? { readonly mutators?: Mutators<never, never> | undefined } : never);
