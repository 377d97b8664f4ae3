import { ChangeLogPoller } from '../change-log/change-log-poller.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { type Semaphores, semaphoresFor } from '../limits/semaphores.js';
import type { Logger } from '../log.js';
import { type NotifierOptions, PokeNotifier } from '../pokes/poke-notifier.js';
import { ConsistencyChecker } from '../pulls/consistency-checker.js';
import { Puller } from '../pulls/pull.js';
import { SchemaCache } from '../schema/schema-cache.js';
import { ClientViews } from '../view/client-views.js';
import type { Views } from '../view/define.js';

/** Options that all replicas of a server share. */
export interface ReplicaOptions<Context extends UserContext> {
  readonly views: Views<Context>;
  /** The fraction of client groups whose consistency is checked. */
  readonly consistencyChecks: number;
  readonly log: Logger;
  /** The number of transactions in the change-log cache. */
  readonly cachedTransactions: number;
  /** The options of the poke notifiers that do not depend on the database. */
  readonly pokes: Pick<NotifierOptions<Context>, 'intervalMs' | 'pollPacer' | 'openSubscriptions' | 'metrics'>;
}

/** A database that answers pulls, with everything that depends on it. */
export interface Replica<Context extends UserContext> {
  readonly db: Database;
  readonly semaphores: Semaphores;
  readonly schemaCache: SchemaCache<Context>;
  readonly puller: Puller<Context>;
  readonly notifier: PokeNotifier<Context>;
  readonly consistencyChecker: ConsistencyChecker;
}

/**
 * Prepares to read from a database. Sends it no statements yet.
 * @param notify true if the poke notifier polls whenever the database notifies, which a standby cannot do
 */
export function createReplica<Context extends UserContext>(
  db: Database,
  notify: boolean,
  { views, consistencyChecks, log, cachedTransactions, pokes }: ReplicaOptions<Context>,
): Replica<Context> {
  const schemaCache = new SchemaCache(db, new ClientViews(db, views));
  const semaphores = semaphoresFor(db.connections);
  const poller = new ChangeLogPoller(db, schemaCache, cachedTransactions);
  const notifier = new PokeNotifier({ ...pokes, db, schemaCache, poller, log, notify });
  const consistencyChecker = new ConsistencyChecker(db, consistencyChecks);
  const puller = new Puller({
    db,
    semaphores,
    schemaCache,
    poller: cachedTransactions > 0 ? poller : undefined,
    consistencyChecker,
  });
  return { db, semaphores, schemaCache, puller, notifier, consistencyChecker };
}
