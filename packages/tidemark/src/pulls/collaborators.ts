/** The collaborators of a pull. Their state only makes later pulls faster. */
import type { CookieCache } from '../change-log/cookie-cache.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import type { Semaphores } from '../limits/semaphores.js';
import type { SchemaCache } from '../schema/schema-cache.js';
import type { ConsistencyChecker } from './consistency-checker.js';
import type { DeltaSizes } from './reads/delta-size.js';
import type { SharedReads } from './reads/shared-reads.js';

/** Everything that answers pulls from one database. */
export interface Collaborators<Context extends UserContext> {
  readonly db: Database;
  readonly semaphores: Semaphores;
  readonly schemaCache: SchemaCache<Context>;
  readonly cookies: CookieCache;
  readonly reads: SharedReads;
  readonly sizes: DeltaSizes;
  readonly consistencyChecker: ConsistencyChecker;
}
