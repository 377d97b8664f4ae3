/** Opens the databases of a server: the primary, and the standbys that it reads from. */
import type { Pool } from 'pg';
import { describeResult } from './catalog/result-types.js';
import type { UserContext } from './context.js';
import type { Database } from './db/database.js';
import { openPool, type PoolOptions } from './db/pg.js';
import { checkRefusals } from './installation/check-refusals.js';
import { checkViews } from './installation/check-views.js';
import { findCostlyChanges } from './installation/costly-changes.js';
import { noNotices, noticeChannel } from './installation/notify.js';
import { describeError } from './log.js';
import type { DescribedRows } from './openapi/schemas/row-schema.js';
import { PacedLooks } from './sources/paced-looks.js';
import { createSource, type Source, type SourceOptions } from './sources/source.js';
import { Sources } from './sources/sources.js';
import { Standby } from './sources/standby.js';
import type { Journal } from './store/journal.js';
import type { SyncOptions } from './sync-options.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { traced } from './telemetry/traced-database.js';
import type { BoundView } from './view/client-views.js';
import { clientNames } from './view/column-names.js';
import { sampleInput } from './view/sample.js';
import { type Readings as LookReadings, Looks } from './window/looks.js';

/** What databases are opened with, besides the application's options. */
export interface DatabaseParts<Context extends UserContext> {
  readonly shared: SourceOptions<Context>;
  readonly journal: Journal;
  readonly telemetry: Telemetry;
  /** What connections are taken from. Default: each database has its own. */
  readonly stock?: PoolOptions['stock'];
}

/** The opened databases. */
export interface Databases<Context extends UserContext> {
  /** The primary. Its statements are not traced. */
  readonly pool: Database;
  readonly primary: Source<Context>;
  readonly sources: Sources<Context>;
  /** What Postgres says about the rows of each view, by its name. */
  readonly rows: ReadonlyMap<string, DescribedRows>;
  /** Closes the connections that were opened here. */
  close(): Promise<void>;
}

/**
 * Opens the databases, and checks that the primary can serve the views, and keep the journal and refusals.
 * @throws SetupError if it cannot, or if what is to be a standby is none of the primary's
 */
export async function openDatabases<Context extends UserContext, Tx>(
  options: SyncOptions<Context, Tx>,
  { shared, journal, telemetry, stock }: DatabaseParts<Context>,
): Promise<Databases<Context>> {
  const { log } = shared;
  const { transactionMs = 30_000, lockMs = 10_000, statementMs = 60_000 } = options.timeouts ?? {};
  const open = (source: string | Pool) =>
    openPool(source, {
      limits: { transactionMs, lockMs, statementMs },
      stock,
      onIdleError: (error) => log.warn({ error: describeError(error) }, 'An idle connection broke'),
      onUnprepared: () =>
        log.info({}, 'The pooler in front of Postgres keeps no prepared statements: from now on there are none'),
    });
  const { tracing } = telemetry;
  const { notify = false } = options.pokes ?? {};
  const pool = open(options.database);
  const standbys = [options.readDatabase ?? []]
    .flat()
    .map((source) => new Standby(createSource(traced(open(source), tracing), false, shared)));
  // With standbys, one connection listens for all tails.
  const isNotified = notify && standbys.length > 0;
  const primary = createSource(traced(pool, tracing), notify && !isNotified, shared);
  const { db, installation } = primary;
  const moves = new PacedLooks(new Looks(db, noTables, keptMoves));
  const onFallback = (reason: string) => telemetry.count('tidemark.standby.fallback', { reason });
  const sources = new Sources({ primary, standbys, moves, log, onFallback });
  const onNotice = () => sources.nudge();
  const unlisten = isNotified ? db.listen(noticeChannel, onNotice, () => log.warn({}, noNotices)) : () => {};
  const close = async () => {
    unlisten();
    await sources.close();
    await db.close();
  };
  try {
    // All that a pooler must be able to do: keep a transaction on one connection.
    await db.atOneMoment(async () => {});
    const bound = await installation.bind(sampleInput(options));
    await checkViews(db, bound);
    for (const { view, table, rows } of await findCostlyChanges(db, bound.views))
      log.warn(
        { view, table, rows },
        'After each change of this large table, the whole view may be read for each client',
      );
    await journal.check(db);
    await checkRefusals(db);
    await sources.start();
    return { pool, primary, sources, rows: await describeRows(db, bound.views), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** How many applied mutations the server remembers, to know whether a standby shows them. */
const keptMoves = 10_000;

/** Looks for mutations alone ask for no tables. What has become of the history, each look says itself. */
const noTables: LookReadings = { present: async () => ({ cluster: '', tableIDs: [] }), remained() {} };

async function describeRows(db: Database, views: readonly BoundView[]): Promise<ReadonlyMap<string, DescribedRows>> {
  const described = views.map(async ({ view }): Promise<[string, DescribedRows]> => {
    const columns = await describeResult(db, view.result);
    // Only an outer join, or the like, makes nulls of a table's row.
    const { name, keyColumns: key, isMonotone, shape } = view;
    const shown = {
      names: clientNames(
        columns.map((column) => column.name),
        shape.columns,
      ),
      value: shape.value,
      omitsNulls: shape.nulls === 'omit',
      isInUTC: shape.timestamps === 'UTC',
    };
    return [name, { columns, key, keepsNotNull: isMonotone, ...shown }];
  });
  return new Map(await Promise.all(described));
}
