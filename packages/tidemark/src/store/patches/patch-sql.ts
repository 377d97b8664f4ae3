/** The statements that yield an observation and a patch in one snapshot, as COPY text. */
import type { Snapshot } from '../../protocol/snapshot.js';
import type { ResolvedView } from '../../view/client-views.js';
import type { SchemaChange } from '../row-formats/schema-change.js';
import { allOf, checksumsQuery } from './checksums.js';
import { type Delta, deltaOf, putOp, singleScope } from './delta.js';
import { instanceChangeDelta } from './instance-change.js';
import { unseenLiterals } from './logged-rows.js';
import { type SyncedTable, stateQueries, states } from './states.js';
import { rowsOf } from './view-rows.js';
import { addedIndexesOf, addedViewDelta, type ViewSetChange, viewSetOps } from './view-set-change.js';

/** COPY in this format leaves JSON as it is: it can contain neither the quote nor the delimiter. */
function copyOut(query: string): string {
  return `copy (\n${query}\n) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}

/** The queries of a statement that yields a line with an observation, and then others. */
export interface LinesQueries {
  readonly observation: string;
  readonly withQueries: readonly string[];
  readonly lines: readonly string[];
  /** The observation row's values in the columns after the first. */
  readonly extraColumns?: readonly string[];
  /** An SQL condition for yielding everything. If it is false, the only line is `null`. */
  readonly condition?: string | undefined;
}

/**
 * A query whose first row is the observation. The observation comes first, because reading it through a materialized
 * WITH query keeps Postgres from running the parts in parallel.
 */
export function linesQuery({ observation, withQueries, lines, extraColumns = [], condition }: LinesQueries): string {
  const queries = [`tidemark_observation as materialized (${observation})`, ...withQueries];
  if (condition !== undefined) queries.push(`tidemark_condition as materialized (select ${condition} as holds)`);
  const holds = '(select holds from tidemark_condition)';
  const line = condition === undefined ? 'line' : `case when ${holds} then line else 'null' end`;
  const others = condition === undefined ? lines : lines.map((one) => `select * from (${one}) l where ${holds}`);
  return `with ${queries.join(',\n')}
select ${[line, ...extraColumns].join(', ')} from tidemark_observation
${others.map((one) => `union all\n${one}`).join('\n')}`;
}

/**
 * Returns SQL that is true if materialized WITH queries together have at most this many rows. Each of them must stop
 * after one row more.
 */
export function haveAtMost(maxRows: number, names: readonly string[]): string {
  return `${names.map((name) => `(select count(*) from ${name})`).join(' + ')} <= ${maxRows}`;
}

/** A limit for a statement that reads all rows of views. If there are more rows, the statement yields only the line `null`. */
export interface RowLimit {
  readonly rows: number;
  /**
   * True if counting the rows first is cheaper than keeping them until all have been read. Rows that share a key count
   * as several.
   */
  readonly countsFirst: boolean;
}

/**
 * The observation, a line of checksums, and every row of every view.
 * @param limit ignores `countsFirst`, because the rows are read twice anyway
 */
export function fullPatchWithChecksums(observation: string, views: readonly ResolvedView[], limit?: RowLimit): string {
  const names = views.map((_, i) => `tidemark_rows_${i}`);
  const limitClause = limit ? ` limit ${limit.rows + 1}` : '';
  const withQueries = views.map(({ view, literals }, i) => {
    const rows = rowsOf(view, view.whole, literals);
    return `${names[i]} as materialized (${limit ? `select * from (${rows}) r${limitClause}` : rows})`;
  });
  const puts = names.map((name) => `select ${putOp} from ${name} b`);
  const lines = [checksumsQuery({ whole: names.map(allOf) }), ...puts];
  const condition = limit && haveAtMost(limit.rows, names);
  return copyOut(linesQuery({ observation, withQueries, lines, condition }));
}

/** A table that has changed. */
export interface ChangedTable {
  readonly table: SyncedTable;
  /** The approximate number of log rows, as a poll counts them. */
  readonly rows: number;
  /** How it was altered since the snapshot, if it was. */
  readonly schemaChange?: SchemaChange | undefined;
}

/**
 * Returns the tables that have changed, given the number of log rows and the schema changes by the tables' IDs in the
 * change log.
 */
export function changedTablesOf(
  tables: readonly SyncedTable[],
  rows: ReadonlyMap<number, number>,
  schemaChanges?: ReadonlyMap<number, SchemaChange>,
): ChangedTable[] {
  return tables.flatMap((table) => {
    const count = rows.get(table.id);
    return count === undefined ? [] : [{ table, rows: count, schemaChange: schemaChanges?.get(table.id) }];
  });
}

/**
 * The checksums in the line after a delta's observation: none; those of its changes; or also those of all rows of the
 * views.
 */
export type ChecksumScope = 'no' | 'changes' | 'whole';

/** The observation, and the changes of the views, given the tables that have changed since the snapshot. */
export function deltaPatch(...parameters: Parameters<typeof deltaQuery>): string {
  return copyOut(deltaQuery(...parameters));
}

/**
 * `deltaPatch` as a query with one row for each line.
 * @param viewSetChange how the views differ from those as of the snapshot, if they do
 */
export function deltaQuery(
  observation: string,
  views: readonly ResolvedView[],
  changes: readonly ChangedTable[],
  base: Snapshot,
  checksumScope: ChecksumScope = 'no',
  viewSetChange?: ViewSetChange,
): string {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  const unseen = unseenLiterals(base);
  const addedIndexes = viewSetChange ? addedIndexesOf(viewSetChange) : [];
  const hasWeights = checksumScope !== 'no';
  const parts = views.map((resolved, i) => {
    const { view, literals } = resolved;
    const instanceChange = viewSetChange?.instanceChanges.get(i);
    if (instanceChange) return instanceChangeDelta(view, i, instanceChange, tables);
    if (addedIndexes.includes(i)) return addedViewDelta(resolved, i);
    return deltaOf(view, i, literals, tables, singleScope, { hasWeights });
  });
  return linesQuery({
    observation,
    withQueries: [
      ...changes.flatMap(({ table, rows, schemaChange }) => stateQueries(table, unseen, rows, schemaChange)),
      ...parts.flatMap((part) => part?.queries ?? []),
    ],
    lines: [
      ...readableRows(changes),
      ...checksumsOf(checksumScope, views, parts),
      ...parts.flatMap((part) => part?.ops ?? []),
      ...(viewSetChange ? viewSetOps(viewSetChange, tables) : []),
    ],
  });
}

/**
 * A query without rows. If old rows may be unreadable, it raises the error before there are any ops, while another
 * answer is still possible.
 */
function readableRows(changes: readonly ChangedTable[]): string[] {
  const unsure = changes.filter(({ table, schemaChange }) => schemaChange || table.textMayChange);
  const counts = unsure.map(({ table }) => `(select count(*) from ${states.oldRows(table.id)}) >= 0`);
  return counts.length === 0 ? [] : [`select null where not (${counts.join(' and ')})`];
}

/** The query for the line of checksums, if requested. Otherwise the SQL that only it needs is not built. */
function checksumsOf(
  checksumScope: ChecksumScope,
  views: readonly ResolvedView[],
  parts: readonly (Delta | undefined)[],
): string[] {
  if (checksumScope === 'no') return [];
  const changes = parts.map((part) => part?.weights);
  if (checksumScope === 'changes') return [checksumsQuery({ changes })];
  const whole = views.map(({ view, literals }) => allOf(`(${rowsOf(view, view.whole, literals)}) r`));
  return [checksumsQuery({ changes, whole })];
}
