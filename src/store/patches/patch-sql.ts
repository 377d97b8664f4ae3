/** The statements that yield a report and a patch in one snapshot, as COPY text. */
import type { Snapshot } from '../../protocol/snapshot.js';
import type { BoundView } from '../../view/client-views.js';
import type { Alteration } from '../layouts/alteration.js';
import { allOf, checksumsQuery } from './checksums.js';
import { alone, type Delta, deltaOf, putOp } from './delta.js';
import { rowsOf } from './sides.js';
import { type SyncedTable, stateQueries, states, unseenLiterals } from './states.js';
import { enteredIn, enteredOf, type Turnover, turnoverOps } from './turnover.js';

/** COPY in this format leaves JSON as it is: it can contain neither the quote nor the delimiter. */
function copyOut(query: string): string {
  return `copy (\n${query}\n) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}

/**
 * A query whose first row is the report. The report comes first, because reading it through a materialized WITH query keeps
 * Postgres from running the parts in parallel.
 * @param others what the report's row has in the columns after the first
 */
export function linesQuery(
  report: string,
  withQueries: readonly string[],
  lines: readonly string[],
  others: readonly string[] = [],
): string {
  const queries = [`tidemark_report as materialized (${report})`, ...withQueries];
  return `with ${queries.join(',\n')}
select ${['line', ...others].join(', ')} from tidemark_report
${lines.map((line) => `union all\n${line}`).join('\n')}`;
}

/** The report, a line of checksums, and every row of every view. */
export function auditedFullPatch(report: string, views: readonly BoundView[]): string {
  const names = views.map((_, i) => `tidemark_rows_${i}`);
  const queries = views.map(
    ({ view, literals }, i) => `${names[i]} as materialized (${rowsOf(view, view.whole, literals)})`,
  );
  const puts = names.map((name) => `select ${putOp} from ${name} b`);
  return copyOut(linesQuery(report, queries, [checksumsQuery({ whole: names.map(allOf) }), ...puts]));
}

/** A table that has changed. */
export interface TableChanges {
  readonly table: SyncedTable;
  /** About how many log rows there are, as the header counts them. */
  readonly rows: number;
  /** What has become of it, if it was altered since the snapshot. */
  readonly alteration?: Alteration | undefined;
}

/**
 * The tables that have changed, given the number of log rows of each, and what has become of those that were altered; by
 * the table's ID in the change log.
 */
export function changesOf(
  tables: readonly SyncedTable[],
  rows: ReadonlyMap<number, number>,
  alterations?: ReadonlyMap<number, Alteration>,
): TableChanges[] {
  return tables.flatMap((table) => {
    const count = rows.get(table.id);
    return count === undefined ? [] : [{ table, rows: count, alteration: alterations?.get(table.id) }];
  });
}

/**
 * Which checksums a delta comes with, in a line after the report: none; those of its changes; or those of all rows of
 * the views too.
 */
export type Checked = 'no' | 'changes' | 'whole';

/** The report, and what has changed in the views, given the tables that have changed since the snapshot. */
export function deltaPatch(...parameters: Parameters<typeof deltaQuery>): string {
  return copyOut(deltaQuery(...parameters));
}

/**
 * The same as a query, with one row for each line.
 * @param turnover what the views have in place of those as of the snapshot, if not all are the same
 */
export function deltaQuery(
  report: string,
  views: readonly BoundView[],
  changes: readonly TableChanges[],
  base: Snapshot,
  checked: Checked = 'no',
  turnover?: Turnover,
): string {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  const unseen = unseenLiterals(base);
  const entered = turnover ? enteredIn(turnover) : [];
  const parts = views.map((bound, i) =>
    entered.includes(i) ? enteredOf(bound, i) : deltaOf(bound.view, i, bound.literals, tables, alone),
  );
  return linesQuery(
    report,
    [
      ...changes.flatMap(({ table, rows, alteration }) => stateQueries(table, unseen, rows, alteration)),
      ...parts.flatMap((part) => part?.queries ?? []),
    ],
    [
      ...readableRows(changes),
      ...checksumsOf(checked, views, parts),
      ...parts.flatMap((part) => part?.ops ?? []),
      ...(turnover ? turnoverOps(turnover, tables) : []),
    ],
  );
}

/**
 * A query without rows. Where old rows may not be readable, it raises the error before there are any ops, while there can be
 * another answer.
 */
function readableRows(changes: readonly TableChanges[]): string[] {
  const unsure = changes.filter(({ table, alteration }) => alteration || table.textMayChange);
  const counts = unsure.map(({ table }) => `(select count(*) from ${states.minus(table.id)}) >= 0`);
  return counts.length === 0 ? [] : [`select null where not (${counts.join(' and ')})`];
}

/** The query for the line of checksums, if there is to be one. If not, the SQL that only it needs is not written. */
function checksumsOf(checked: Checked, views: readonly BoundView[], parts: readonly (Delta | undefined)[]): string[] {
  if (checked === 'no') return [];
  const changes = parts.map((part) => part?.weights());
  if (checked === 'changes') return [checksumsQuery({ changes })];
  const whole = views.map(({ view, literals }) => allOf(`(${rowsOf(view, view.whole, literals)}) r`));
  return [checksumsQuery({ changes, whole })];
}
