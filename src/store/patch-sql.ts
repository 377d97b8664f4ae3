/** The statements that yield a header and a patch in one snapshot, as COPY text. */
import type { Snapshot } from '../protocol/snapshot.js';
import { identifier } from '../sql.js';
import type { BoundView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile.js';
import type { Stand } from '../view/rewrite.js';
import { render, type Template } from '../view/syntax.js';
import { type SyncedTable, stateQueries, states } from './states.js';

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
  const puts = views.map(({ view, literals }) => `select ${putOp} from (${rows(view, view.now, literals)}) a`);
  return copyOut(header, [], puts);
}

/** Header and what has changed in the views, given that these tables have changed since the snapshot. */
export function deltaPatch(
  header: string,
  views: readonly BoundView[],
  tables: readonly SyncedTable[],
  base: Snapshot,
): string {
  const ids = new Map(tables.map((table) => [table.oid, table.id]));
  const parts = views.map((bound, i) => deltaOf(bound, i, ids)).filter((part) => part !== undefined);
  return copyOut(
    header,
    [...tables.flatMap((table) => stateQueries(table, base)), ...parts.flatMap((part) => part.queries)],
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
  const changed = view.occurrenceTables.map((oid) => ids.get(oid));
  if (changed.every((id) => id === undefined)) return undefined;
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const pairs = `tidemark_pairs_${index}`;
  const standing = (stands: Stand[], focus?: number) => rows(view, view.standing(stands, focus), literals);
  const asof = changed.map((id): Stand => (id === undefined ? 'now' : states.asof(id)));
  const queries = (was: string, is: string) => [
    `${before} as materialized (${was})`,
    `${after} as materialized (${is})`,
    `${pairs} as materialized (${paired(view, before, after)})`,
  ];
  const put = `select ${putOp} from ${pairs} a where a.is_after and (a.other is null or a.other <> a.value)`;
  const del = `select ${delOp} from ${pairs} b where not b.is_after and b.other is null`;

  if (view.strategy === 'compare') {
    return { queries: queries(standing(asof), rows(view, view.now, literals)), ops: [put, del] };
  }

  const focuses = changed.flatMap((id, focus) => (id === undefined ? [] : [{ id, focus }]));
  const now = asof.map((): Stand => 'now');
  const affected = (stand: (id: number) => string, others: Stand[]) =>
    distinctByKey(
      view,
      focuses.map(({ id, focus }) => standing(others.with(focus, stand(id)), focus)),
    );
  return {
    queries: queries(affected(states.minus, asof), affected(states.plus, now)),
    ops: [put, `${del} and not ${inViewNow(view, literals)}`],
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

/**
 * A row that lost one reason to be in the view may have another. OFFSET 0 has it looked up key by key, not joined.
 * Keys that Postgres calls equal can differ for the client: 1 and 1.0, or letters of a case-insensitive collation.
 */
function inViewNow(view: CompiledView, literals: readonly string[]): string {
  const sameKey = view.keyColumns.map((column, i) => `v.${identifier(column)} = b.k${i + 1}`).join(' and ');
  return `exists (select from (\n${render(view.now, literals)}\n) v where ${sameKey} and ${view.keySql} = b.key offset 0)`;
}

/** The rows of a query as native key columns `k1…`, the client's key, and the value as JSON text. */
function rows(view: CompiledView, query: Template, literals: readonly string[]): string {
  const keys = view.keyColumns.map((column, i) => `v.${identifier(column)} as k${i + 1}`);
  return `select ${keys.join(', ')}, ${view.keySql} as key, ${view.valueSql} as value from (\n${render(query, literals)}\n) v`;
}

function distinctByKey(view: CompiledView, queries: readonly string[]): string {
  const keys = view.keyColumns.map((_, i) => `k${i + 1}`);
  return `select distinct on (key) ${keys.join(', ')}, key, value from (\n${queries.join('\nunion all\n')}\n) r`;
}
