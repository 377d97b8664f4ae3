/** The statements that yield a header and a patch in one snapshot, as COPY text. */
import type { Snapshot } from '../protocol/snapshot.js';
import type { BoundView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile.js';
import { checksumsQuery, rowHash } from './checksums.js';
import { rowColumns, rowsOf, sidesOf } from './sides.js';
import { type SyncedTable, stateQueries } from './states.js';

/** COPY in this format leaves JSON as it is: it can contain neither the quote nor the delimiter. */
function copyOut(query: string): string {
  return `copy (\n${query}\n) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}

/**
 * A query whose first row is the header. The header comes first, because reading it through a materialized WITH query keeps
 * Postgres from running the parts in parallel.
 * @param others what the header's row has in the columns after the first
 */
export function linesQuery(
  header: string,
  withQueries: readonly string[],
  lines: readonly string[],
  others: readonly string[] = [],
): string {
  const queries = [`tidemark_header as materialized (${header})`, ...withQueries];
  return `with ${queries.join(',\n')}
select ${['line', ...others].join(', ')} from tidemark_header
${lines.map((line) => `union all\n${line}`).join('\n')}`;
}

/** The header, a line of checksums, and every row of every view. */
export function auditedFullPatch(header: string, views: readonly BoundView[]): string {
  const names = views.map((_, i) => `tidemark_rows_${i}`);
  const queries = views.map(
    ({ view, literals }, i) => `${names[i]} as materialized (${rowsOf(view, view.now, literals)})`,
  );
  const puts = names.map((name) => `select ${putOp} from ${name} b`);
  return copyOut(linesQuery(header, queries, [checksumsQuery({ whole: names.map(allOf) }), ...puts]));
}

/** A table that has changed. */
export interface TableChanges {
  readonly table: SyncedTable;
  /** About how many log rows there are, as the header counts them. */
  readonly rows: number;
}

/** The tables that have changed, given the number of log rows of each, by the table's ID in the change log. */
export function changesOf(tables: readonly SyncedTable[], rows: ReadonlyMap<number, number>): TableChanges[] {
  return tables.flatMap((table) => {
    const count = rows.get(table.id);
    return count === undefined ? [] : [{ table, rows: count }];
  });
}

/**
 * Which checksums a delta comes with, in a line after the header: none; those of its changes; or those of all rows of
 * the views too.
 */
export type Checked = 'no' | 'changes' | 'whole';

/** The header, and what has changed in the views, given the tables that have changed since the snapshot. */
export function deltaPatch(...parameters: Parameters<typeof deltaQuery>): string {
  return copyOut(deltaQuery(...parameters));
}

/** The same as a query, with one row for each line. */
export function deltaQuery(
  header: string,
  views: readonly BoundView[],
  changes: readonly TableChanges[],
  base: Snapshot,
  checked: Checked = 'no',
): string {
  const ids = new Map(changes.map(({ table }) => [table.oid, table.id]));
  const parts = views.map((bound, i) => deltaOf(bound, i, ids));
  return linesQuery(
    header,
    [
      ...changes.flatMap(({ table, rows }) => stateQueries(table, base, rows)),
      ...parts.flatMap((part) => part?.queries ?? []),
    ],
    [...checksumsOf(checked, views, parts), ...parts.flatMap((part) => part?.ops ?? [])],
  );
}

/** Each op is preceded by a comma. */
const putOp = `',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}'`;
const delOp = `',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}'`;

/** The query for the line of checksums, if there is to be one. If not, the SQL that only it needs is not written. */
function checksumsOf(checked: Checked, views: readonly BoundView[], parts: readonly (Delta | undefined)[]): string[] {
  if (checked === 'no') return [];
  const changes = parts.map((part) => part?.weights());
  if (checked === 'changes') return [checksumsQuery({ changes })];
  const whole = views.map(({ view, literals }) => allOf(`(${rowsOf(view, view.now, literals)}) r`));
  return [checksumsQuery({ changes, whole })];
}

/** For checksums: each row has the weight 1. */
function allOf(rows: string): string {
  return `select 1 as weight, ${rowHash('tidemark_key', 'tidemark_value')} as hash from ${rows}`;
}

interface Delta {
  readonly queries: readonly string[];
  readonly ops: readonly string[];
  /** For checksums: the rows that a client gains and loses by applying the ops. */
  readonly weights: () => string;
}

/** @param ids the change-log IDs, by OID, of the tables that have changed */
function deltaOf({ view, literals }: BoundView, index: number, ids: ReadonlyMap<number, number>): Delta | undefined {
  const sides = sidesOf(view, literals, ids);
  if (!sides) return undefined;
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const pairs = `tidemark_pairs_${index}`;
  const isPut = 'b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)';
  const isDel = `not b.tidemark_after and b.tidemark_other is null and not ${sides.isThere}`;
  return {
    queries: [
      `${before} as materialized (${sides.before})`,
      `${after} as materialized (${sides.after})`,
      `${pairs} as materialized (${paired(view, before, after)})`,
    ],
    ops: [`select ${putOp} from ${pairs} b where ${isPut}`, `select ${delOp} from ${pairs} b where ${isDel}`],
    weights: () => `select 1 as weight, ${rowHash('b.tidemark_key', 'b.tidemark_value')} as hash from ${pairs} b
        where ${isPut} and not (b.tidemark_other is null and ${sides.wasThere()})
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_other')} from ${pairs} b where ${isPut} and b.tidemark_other is not null
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_value')} from ${pairs} b where ${isDel}`,
  };
}

/**
 * The rows before and after, each with the value of the same key on the other side. They are paired by sorting:
 * Postgres often expects one changed row where there are thousands, and would join them by a nested loop over all
 * pairs.
 */
function paired(view: CompiledView, before: string, after: string): string {
  const row = rowColumns(view);
  return `select ${row}, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select ${row}, false as tidemark_after from ${before} union all select ${row}, true from ${after}) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after)`;
}
