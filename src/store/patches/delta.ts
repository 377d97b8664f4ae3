/** What has changed in one view, as WITH queries and queries for its ops. */
import type { CompiledView } from '../../view/compile/compile.js';
import { rowHash } from './checksums.js';
import { rowColumns, type Side, type Sides, sidesOf } from './sides.js';
import type { SyncedTable } from './states.js';

/** SQL expressions for an op, over a row `b` of a view. */
export const putOp = `',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}'`;
export const delOp = `',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}'`;

/** Conditions on a row `b` of `paired`: it is to be put; or it was there, and no row after has its key. */
export const isPut = 'b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)';
export const isGone = 'not b.tidemark_after and b.tidemark_other is null';

/** Whom a delta is for. */
export interface Seating {
  /** A query's rows for everyone whom the delta is for. */
  readonly rowsOf: (query: string) => string;
  /** The rows of a WITH query that are for one of them, in such a query. */
  readonly own: (name: string) => string;
  /** The columns that say whom a row is for. */
  readonly columns: readonly string[];
  /** Makes the parameters of whom a row `b` is for known to a condition about it. */
  readonly join: string;
}

/** For one client view alone: its parameters are in the query. */
export const alone: Seating = {
  rowsOf: (query) => query,
  own: (name) => `select * from ${name}`,
  columns: [],
  join: '',
};

/** The rows of a WITH query with a row `tidemark_l` for each seat, from whose columns the query takes its parameters. */
export function seatedAt(seats: string): Seating {
  return {
    rowsOf: (query) =>
      `select tidemark_l.tidemark_seat, r.* from ${seats} tidemark_l cross join lateral (\n${query}\n) r`,
    own: (name) => `select * from ${name} where tidemark_seat = tidemark_l.tidemark_seat`,
    columns: ['tidemark_seat'],
    join: `join ${seats} tidemark_l using (tidemark_seat)`,
  };
}

export interface Delta {
  readonly queries: readonly string[];
  /** Each yields the seating's columns, and an op as `line`. */
  readonly ops: readonly string[];
  /** For checksums: the rows that a client gains and loses by applying the ops. */
  readonly weights: () => string;
}

/**
 * The delta of a view; undefined if none of its tables has changed.
 * @param index tells the view from others in the same statement
 * @param values SQL expressions for the view's parameters
 * @param tables those that have changed, by OID
 */
export function deltaOf(
  view: CompiledView,
  index: number,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  seating: Seating,
): Delta | undefined {
  const sides = sidesOf(view, values, tables);
  if (!sides) return undefined;
  const { columns, join } = seating;
  const { affected, rows } = rowsOfSides(sides, `tidemark_affected_${index}`, seating);
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const pairs = `tidemark_pairs_${index}`;
  const isDel = `${isGone} and not ${sides.isThere}`;
  const whom = columns.map((column) => `${column}, `).join('');
  return {
    queries: [
      ...affected,
      `${before} as materialized (${rows(sides.before)})`,
      `${after} as materialized (${rows(sides.after)})`,
      `${pairs} as materialized (${paired([...columns, rowColumns(view)].join(', '), columns, before, after)})`,
    ],
    ops: [
      `select ${whom}${putOp} from ${pairs} b where ${isPut}`,
      `select ${whom}${delOp} from ${pairs} b ${join} where ${isDel}`,
    ],
    weights: () => `select 1 as weight, ${rowHash('b.tidemark_key', 'b.tidemark_value')} as hash from ${pairs} b
        where ${isPut} and not (b.tidemark_other is null and ${sides.wasThere()})
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_other')} from ${pairs} b where ${isPut} and b.tidemark_other is not null
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_value')} from ${pairs} b where ${isDel}`,
  };
}

/** So many partitions of one client view, and no more, are evaluated one after the other. */
const mostPartitions = 200;

/**
 * The WITH queries that tell what is affected, and what makes the rows of a side.
 *
 * Many partitions are evaluated in groups. For each group, Postgres reads all partitions and all old rows; for each of its
 * partitions, the old rows of the group. With n partitions, the sum of both is least in groups of about the square root of n.
 * @param name of the WITH query of what is affected
 */
export function rowsOfSides(
  { affected, hasNull, before }: Sides,
  name: string,
  { rowsOf, own, columns, join }: Seating,
): { readonly affected: readonly string[]; readonly rows: (side: Side) => string } {
  if (affected === undefined) return { affected: [], rows: ({ each }) => rowsOf(each!) };
  const whom = columns.map((column) => `${column}, `).join('');
  const seats = columns.length > 0 ? `pg_catalog.count(distinct ${columns.join()})` : '1';
  const isMany = `(select many from ${name}_size)`;
  const groupOf = `tidemark_place / (select "together" from ${name}_size)`;
  return {
    affected: [
      `${name} as materialized (${rowsOf(affected)})`,
      `${name}_size as materialized (
        select pg_catalog.count(*) > ${mostPartitions} * ${seats} as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, ${seats})))::bigint as "together"
        from ${name}
      )`,
      ...(before.group
        ? [
            `${name}_groups as materialized (select distinct ${whom}${groupOf} as tidemark_group from ${name} where ${isMany})`,
          ]
        : []),
    ],
    rows: ({ each, eachOfNulls, group, few, many }) => {
      const forEach = (rows: string, condition: string) =>
        `select ${whom}r.* from ${name} tidemark_c ${join} cross join lateral (\n${rows}\n) r where ${condition}`;
      const forEachGroup = (rows: string) =>
        `select ${whom}r.* from ${name}_groups tidemark_g ${join} cross join lateral (
          with tidemark_c as materialized (select * from (${own(name)}) c where ${groupOf} = tidemark_g.tidemark_group)
          select r.* from (\n${rows}\n) r offset 0
        ) r`;
      const atOnce = (rows: string, condition: string) =>
        `(${rowsOf(`with tidemark_c as (${own(name)}) select p.* from (\n${rows}\n) p where ${condition}`)})`;
      const isAny = 'exists (select from tidemark_c)';
      const isSingle = hasNull ? `not ${isMany} and not (${hasNull})` : `not ${isMany}`;
      // As of the snapshot, a partition without a value cannot be told from others by comparing.
      const isWhole = hasNull ? `(${isMany} or exists (select from tidemark_c where ${hasNull}))` : isMany;
      return [
        ...(each ? [forEach(each, group ? isSingle : 'true')] : []),
        ...(eachOfNulls ? [forEach(eachOfNulls, hasNull!)] : []),
        ...(group ? [forEachGroup(group)] : []),
        ...(few ? [atOnce(few, `${isAny} and not ${isWhole}`)] : []),
        ...(many ? [atOnce(many, `${isAny} and ${isWhole}`)] : []),
      ].join('\nunion all\n');
    },
  };
}

/**
 * The rows before and after, each with the value of the same key on the other side. They are paired by sorting:
 * Postgres often expects one changed row where there are thousands, and would join them by a nested loop over all
 * pairs.
 * @param row the columns of a row
 * @param whom those that say whom it is for
 */
export function paired(row: string, whom: readonly string[], before: string, after: string): string {
  const key = [...whom, 'tidemark_key collate "C"'].join(', ');
  return `select ${row}, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select ${row}, false as tidemark_after from ${before} union all select ${row}, true from ${after}) r
window pair as (partition by ${key} order by tidemark_after)`;
}
