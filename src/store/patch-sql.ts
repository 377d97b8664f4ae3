/** The statements that yield a header and a patch in one snapshot, as COPY text. */
import type { Snapshot } from '../protocol/snapshot.js';
import type { BoundView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile.js';
import { rowsOf, sidesOf } from './sides.js';
import { type SyncedTable, stateQueries } from './states.js';

/**
 * COPY in this format leaves JSON as it is: neither quote nor delimiter can occur in it. Each op is preceded by a comma.
 * Reading the header through a materialized WITH query keeps the plan from running the parts in parallel, so it comes first.
 */
function copyOut(header: string, withQueries: readonly string[], ops: readonly string[]): string {
  const queries = [`tidemark_header as materialized (${header})`, ...withQueries];
  return `copy (
with ${queries.join(',\n')}
select line from tidemark_header
${ops.map((op) => `union all\n${op}`).join('\n')}
) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}

/** Header and every row of every view. */
export function fullPatch(header: string, views: readonly BoundView[]): string {
  const puts = views.map(({ view, literals }) => `select ${putOp} from (${rowsOf(view, view.now, literals)}) a`);
  return copyOut(header, [], puts);
}

export interface TableChanges {
  readonly table: SyncedTable;
  /** How many log rows there are about, as the header counts them. */
  readonly rows: number;
}

/** Those of the tables that have changed, given the number of log rows of each that has. */
export function changesOf(tables: readonly SyncedTable[], rows: ReadonlyMap<number, number>): TableChanges[] {
  return tables.flatMap((table) => {
    const count = rows.get(table.id);
    return count === undefined ? [] : [{ table, rows: count }];
  });
}

/** Header and what has changed in the views, given that these tables have changed since the snapshot. */
export function deltaPatch(
  header: string,
  views: readonly BoundView[],
  changes: readonly TableChanges[],
  base: Snapshot,
): string {
  const ids = new Map(changes.map(({ table }) => [table.oid, table.id]));
  const parts = views.map((bound, i) => deltaOf(bound, i, ids)).filter((part) => part !== undefined);
  return copyOut(
    header,
    [
      ...changes.flatMap(({ table, rows }) => stateQueries(table, base, rows)),
      ...parts.flatMap((part) => part.queries),
    ],
    parts.flatMap((part) => part.ops),
  );
}

const putOp = `',{"op":"put","key":' || to_json(a.key)::text || ',"value":' || a.value || '}'`;
const delOp = `',{"op":"del","key":' || to_json(b.key)::text || '}'`;

interface Delta {
  readonly queries: readonly string[];
  readonly ops: readonly string[];
}

/** @param ids the change-log IDs, by OID, of the tables that have changed */
function deltaOf({ view, literals }: BoundView, index: number, ids: ReadonlyMap<number, number>): Delta | undefined {
  const sides = sidesOf(view, literals, ids);
  if (!sides) return undefined;
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const pairs = `tidemark_pairs_${index}`;
  const put = `select ${putOp} from ${pairs} a where a.is_after and (a.other is null or a.other <> a.value)`;
  const del = `select ${delOp} from ${pairs} b where not b.is_after and b.other is null`;
  return {
    queries: [
      `${before} as materialized (${sides.before})`,
      `${after} as materialized (${sides.after})`,
      `${pairs} as materialized (${paired(view, before, after)})`,
    ],
    ops: [put, `${del} and not ${sides.isThere}`],
  };
}

/**
 * The rows before and after, each with the value that the same key has on the other side. By sorting: Postgres often expects one
 * changed row where there are thousands, and would join them in a loop over all pairs.
 */
function paired(view: CompiledView, before: string, after: string): string {
  const row = [...view.keyColumns.map((_, i) => `k${i + 1}`), 'key', 'value'].join(', ');
  return `select ${row}, is_after, case when is_after then lag(value) over pair else lead(value) over pair end as other
from (select ${row}, false as is_after from ${before} union all select ${row}, true from ${after}) r
window pair as (partition by key collate "C" order by is_after)`;
}
