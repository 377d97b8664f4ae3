/** Opens the databases of a server: the primary, and the standbys that it reads from. */
import type { Pool } from 'pg';
import { describeResult } from './catalog/result-types.js';
import { ChangeLogPoller, type SchemaProvider } from './change-log/change-log-poller.js';
import type { UserContext } from './context.js';
import type { Database } from './db/database.js';
import { openPool, type PoolOptions } from './db/pg.js';
import type { DescribedRows } from './openapi/schemas/row-schema.js';
import { createReplica, type Replica, type ReplicaOptions } from './replicas/replica.js';
import { ReplicaRouter } from './replicas/replica-router.js';
import { Standby } from './replicas/standby.js';
import { ThrottledPoller } from './replicas/throttled-poller.js';
import { sampleInputFor } from './sample-args.js';
import { checkRefusals } from './schema/check-refusals.js';
import { findCostlyChanges } from './schema/costly-changes.js';
import { noNotices, noticeChannel } from './schema/notify.js';
import { checkViews } from './schema/views/check-views.js';
import type { AuditLog } from './store/audit-log.js';
import type { SyncOptions } from './sync-options.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { withTracing } from './telemetry/traced-database.js';
import type { ResolvedView } from './view/client-views.js';
import { clientNames } from './view/columns/column-names.js';

/** The parts that databases are opened with, besides the application's options. */
export interface DatabaseParts<Context extends UserContext> {
  readonly shared: ReplicaOptions<Context>;
  readonly auditLog: AuditLog;
  readonly telemetry: Telemetry;
  /** The common limit on connections. Default: each database has a limit of its own. */
  readonly connectionBudget?: PoolOptions['connectionBudget'];
}

/** The opened databases. */
export interface Databases<Context extends UserContext> {
  /** The primary. Its statements are not traced. */
  readonly pool: Database;
  readonly primary: Replica<Context>;
  readonly replicaRouter: ReplicaRouter<Context>;
  /** The columns of each view's rows, as Postgres describes them, by the view's name. */
  readonly rows: ReadonlyMap<string, DescribedRows>;
  /** Closes the connections that `openDatabases` opened. */
  close(): Promise<void>;
}

/**
 * Opens the databases, and checks that the primary can serve the views and store the audit log and refusals.
 * @throws SetupError if it cannot, or if a `readDatabase` is not a standby of the primary
 */
export async function openDatabases<Context extends UserContext, Tx>(
  options: SyncOptions<Context, Tx>,
  { shared, auditLog, telemetry, connectionBudget }: DatabaseParts<Context>,
): Promise<Databases<Context>> {
  const { log } = shared;
  const { transactionMs = 30_000, lockMs = 10_000, statementMs = 60_000 } = options.timeouts ?? {};
  const open = (database: string | Pool) =>
    openPool(database, { limits: { transactionMs, lockMs, statementMs }, connectionBudget, log });
  const { tracing } = telemetry;
  const { notify = false } = options.pokes ?? {};
  const pool = open(options.database);
  const standbys = [options.readDatabase ?? []]
    .flat()
    .map((database) => new Standby(createReplica(withTracing(open(database), tracing), false, shared)));
  // With standbys, one connection receives the notifications for all poke notifiers.
  const isNotified = notify && standbys.length > 0;
  const primary = createReplica(withTracing(pool, tracing), notify && !isNotified, shared);
  const { db, schemaCache } = primary;
  const mutationPoller = new ThrottledPoller(new ChangeLogPoller(db, noTables, maxMutations));
  const replicaRouter = new ReplicaRouter({ primary, standbys, mutationPoller, log, metrics: telemetry });
  const onNotice = () => replicaRouter.wake();
  const unlisten = isNotified ? db.listen(noticeChannel, onNotice, () => log.warn({}, noNotices)) : () => {};
  const close = async () => {
    unlisten();
    await replicaRouter.close();
    await db.close();
  };
  try {
    // The one thing that a pooler must do: keep a transaction on one connection.
    await db.inSnapshot(async () => {});
    const resolved = await schemaCache.resolve(await sampleInputFor(options));
    await checkViews(db, resolved);
    for (const { view, table, rows } of await findCostlyChanges(db, resolved.views))
      log.warn(
        { view, table, rows },
        'After each change of this large table, the whole view may be read for each client',
      );
    await auditLog.check(db);
    await checkRefusals(db);
    await replicaRouter.start();
    return { pool, primary, replicaRouter, rows: await describeRows(db, resolved.views), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The number of applied mutations that the server keeps in memory, to check whether a standby shows them. */
const maxMutations = 10_000;

/** The schema for polls that find only mutations: no tables. Each poll itself reports the database's history. */
const noTables: SchemaProvider = { present: async () => ({ cluster: '', tableIDs: [] }), remained() {} };

async function describeRows(db: Database, views: readonly ResolvedView[]): Promise<ReadonlyMap<string, DescribedRows>> {
  const described = views.map(async ({ view }): Promise<[string, DescribedRows]> => {
    const columns = await describeResult(db, view.result);
    // Only outer joins and similar constructs, which are not monotone, add nulls to a NOT NULL column.
    const { name, key, isMonotone, valueOptions: encoding } = view;
    const shown = {
      names: clientNames(
        columns.map((column) => column.name),
        encoding.columns,
      ),
      value: encoding.value,
      omitsNulls: encoding.nulls === 'omit',
      isInUTC: encoding.timestamps === 'UTC',
    };
    return [name, { columns, key: key.columns, keepsNotNull: isMonotone, ...shown }];
  });
  return new Map(await Promise.all(described));
}
