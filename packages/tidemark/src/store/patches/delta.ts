/** The changes of one view, as WITH queries and queries for its ops. */
import type { CompiledView } from '../../view/compile/compile.js';
import { rowHash } from './checksums.js';
import { type Side, type Sides, sidesOf, wasThere } from './sides.js';
import type { SyncedTable } from './states.js';
import { rowColumns } from './view-rows.js';

/** SQL expressions for an op, over a row `b` of a view. */
export const putOp = `',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}'`;
export const delOp = `',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}'`;

/** Conditions on a row `b` of `pairRows`: it must be put; or it was there, and no later row has its key. */
export const isPut = 'b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)';
export const isRemoved = 'not b.tidemark_after and b.tidemark_other is null';

/** The clients that a delta is for. */
export interface CohortScope {
  /**
   * The WITH query of the cohorts, each a row `tidemark_parameters`, from whose columns a query takes its parameters.
   * Undefined for a single client view, whose parameters are in the query.
   */
  readonly cohorts?: string;
  /** The columns that identify a row's cohort. */
  readonly columns: readonly string[];
  /** Joins the parameters of the cohort of a row `b`, for a condition about it. */
  readonly join: string;
}

/** The scope of a single client view. */
export const singleScope: CohortScope = { columns: [], join: '' };

/** Returns the scope of many cohorts. */
export function cohortScope(cohorts: string): CohortScope {
  return {
    cohorts,
    columns: ['tidemark_cohort'],
    join: `join ${cohorts} tidemark_parameters using (tidemark_cohort)`,
  };
}

/** Returns the query's rows for all clients of a scope. */
function inScope(query: string, { cohorts }: CohortScope): string {
  if (cohorts === undefined) return query;
  return `select tidemark_parameters.tidemark_cohort, r.* from ${cohorts} tidemark_parameters cross join lateral (\n${query}\n) r`;
}

/** Returns the rows of a WITH query for one cohort, within a query `inScope`. */
function ofOneCohort(name: string, { cohorts }: CohortScope): string {
  const condition = cohorts === undefined ? '' : ' where tidemark_cohort = tidemark_parameters.tidemark_cohort';
  return `select * from ${name}${condition}`;
}

export interface Delta {
  readonly queries: readonly string[];
  /** Each yields the scope's columns, and an op as `line`. */
  readonly ops: readonly string[];
  /** The name of a WITH query with every key that may have changed. */
  readonly pairs?: string;
  /** For checksums: the rows that a client gains and loses by applying the ops; undefined if not requested. */
  readonly weights?: string | undefined;
}

/** The options of `deltaOf`. */
export interface DeltaOptions {
  /** True to request `weights`, which only a single client view can have. */
  readonly hasWeights?: boolean;
  /** An SQL condition on a row `b`, whose key then has no op. */
  readonly unless?: string | undefined;
}

/**
 * Returns the delta of a view; undefined if none of its tables has changed.
 * @param index distinguishes the view from others in the same statement
 * @param values SQL expressions for the view's parameters
 * @param tables the changed tables, by OID
 */
export function deltaOf(
  view: CompiledView,
  index: number,
  values: readonly string[],
  tables: ReadonlyMap<number, SyncedTable>,
  scope: CohortScope,
  { hasWeights = false, unless }: DeltaOptions = {},
): Delta | undefined {
  const sides = sidesOf(view, values, tables);
  if (!sides) return undefined;
  const { columns, join } = scope;
  const rows = rowsOfSides(sides, `tidemark_affected_${index}`, scope);
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const pairs = `tidemark_pairs_${index}`;
  const isDel = `${isRemoved} and not ${sides.isThere}`;
  const scopeColumns = columns.map((column) => `${column}, `).join('');
  const filter = unless === undefined ? '' : ` and not ${unless}`;
  return {
    queries: [
      ...rows.affected,
      `${before} as materialized (${rows.before})`,
      `${after} as materialized (${rows.after})`,
      `${pairs} as materialized (${pairRows([...columns, rowColumns(view)].join(', '), columns, before, after)})`,
    ],
    ops: [
      `select ${scopeColumns}${putOp} from ${pairs} b where ${isPut}${filter}`,
      `select ${scopeColumns}${delOp} from ${pairs} b ${join} where ${isDel}${filter}`,
    ],
    pairs,
    weights: hasWeights ? weightsOf(pairs, isDel, wasThere(view, values, tables)) : undefined,
  };
}

function weightsOf(pairs: string, isDel: string, isKnown: string): string {
  return `select 1 as weight, ${rowHash('b.tidemark_key', 'b.tidemark_value')} as hash from ${pairs} b
        where ${isPut} and not (b.tidemark_other is null and ${isKnown})
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_other')} from ${pairs} b where ${isPut} and b.tidemark_other is not null
      union all select -1, ${rowHash('b.tidemark_key', 'b.tidemark_value')} from ${pairs} b where ${isDel}`;
}

/** The maximum number of a client view's partitions that are evaluated one after the other. */
const maxPartitions = 200;

/** The queries for the rows of a view's sides. */
export interface RowsOfSides {
  /** The WITH queries that find what is affected. */
  readonly affected: readonly string[];
  readonly before: string;
  readonly after: string;
}

/**
 * Returns the queries for the rows of a view's sides.
 *
 * Many partitions are evaluated in groups. For each group, Postgres reads all partitions and all old rows; for each of
 * its partitions, the group's old rows. With n partitions, the sum is least in groups of about the square root of n.
 * @param name the name of the WITH query of what is affected
 */
export function rowsOfSides(
  { affected, hasNull, before, after }: Sides,
  name: string,
  scope: CohortScope,
): RowsOfSides {
  if (affected === undefined) {
    return { affected: [], before: inScope(before.each!, scope), after: inScope(after.each!, scope) };
  }
  const { columns, join } = scope;
  const scopeColumns = columns.map((column) => `${column}, `).join('');
  const cohortCount = columns.length > 0 ? `pg_catalog.count(distinct ${columns.join()})` : '1';
  const isMany = `(select many from ${name}_size)`;
  const groupOf = `tidemark_index / (select "group_size" from ${name}_size)`;
  const rowsOfSide = ({ each, eachOfNulls, group, few, many }: Side) => {
    const forEach = (rows: string, condition: string) =>
      `select ${scopeColumns}r.* from ${name} tidemark_c ${join} cross join lateral (\n${rows}\n) r where ${condition}`;
    const forEachGroup = (rows: string) =>
      `select ${scopeColumns}r.* from ${name}_groups tidemark_g ${join} cross join lateral (
          with tidemark_c as materialized (select * from (${ofOneCohort(name, scope)}) c where ${groupOf} = tidemark_g.tidemark_group)
          select r.* from (\n${rows}\n) r offset 0
        ) r`;
    const atOnce = (rows: string, condition: string) =>
      `(${inScope(`with tidemark_c as (${ofOneCohort(name, scope)}) select p.* from (\n${rows}\n) p where ${condition}`, scope)})`;
    const isAny = 'exists (select from tidemark_c)';
    const isSingle = hasNull ? `not ${isMany} and not (${hasNull})` : `not ${isMany}`;
    // As of the snapshot, a comparison cannot distinguish a partition with a null column from others.
    const isWhole = hasNull ? `(${isMany} or exists (select from tidemark_c where ${hasNull}))` : isMany;
    return [
      ...(each ? [forEach(each, group ? isSingle : 'true')] : []),
      ...(eachOfNulls ? [forEach(eachOfNulls, hasNull!)] : []),
      ...(group ? [forEachGroup(group)] : []),
      ...(few ? [atOnce(few, `${isAny} and not ${isWhole}`)] : []),
      ...(many ? [atOnce(many, `${isAny} and ${isWhole}`)] : []),
    ].join('\nunion all\n');
  };
  return {
    affected: [
      `${name} as materialized (${inScope(affected, scope)})`,
      `${name}_size as materialized (
        select pg_catalog.count(*) > ${maxPartitions} * ${cohortCount} as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, ${cohortCount})))::bigint as "group_size"
        from ${name}
      )`,
      ...(before.group
        ? [
            `${name}_groups as materialized (select distinct ${scopeColumns}${groupOf} as tidemark_group from ${name} where ${isMany})`,
          ]
        : []),
    ],
    before: rowsOfSide(before),
    after: rowsOfSide(after),
  };
}

/**
 * The rows before and after, each with the value of the same key on the other side. Sorting pairs them, because
 * Postgres often expects one changed row where there are thousands, and would join them by a nested loop over all
 * pairs.
 * @param row the columns of a row
 * @param scopeColumns the columns that identify a row's cohort
 */
export function pairRows(row: string, scopeColumns: readonly string[], before: string, after: string): string {
  const key = [...scopeColumns, 'tidemark_key collate "C"'].join(', ');
  return `select ${row}, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select ${row}, false as tidemark_after from ${before} union all select ${row}, true from ${after}) r
window pair as (partition by ${key} order by tidemark_after)`;
}
