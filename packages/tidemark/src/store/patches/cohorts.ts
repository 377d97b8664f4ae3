/** Small deltas of many client views in one prepared statement, which takes their parameters as its parameters. */
import type { ResolvedView } from '../../view/client-views.js';
import type { CompiledView } from '../../view/compile/compile.js';
import { isArrayType } from '../../view/instances/instances.js';
import {
  observationParameters,
  observationValues,
  type PollInput,
  parameterObservation,
  type TableFingerprint,
} from '../polls/poll.js';
import { type CohortScope, cohortScope, deltaOf, singleScope } from './delta.js';
import type { ChangedTable } from './patch-sql.js';
import { stateQueries } from './states.js';

/** The parameters of a cohort: those of each of its views, in order, as text. */
export type CohortParameters = readonly (string | null)[];

/** The maximum number of ops that a statement yields for all of its cohorts, and their maximum size in bytes. */
export const maxOps: number = 5_000;
const maxBytes = 4 * 1024 * 1024;

/** Returns the cohort parameters of a client view. */
export function cohortParametersOf(views: readonly ResolvedView[]): CohortParameters {
  return views.flatMap(({ texts }) => texts);
}

/** A line that a statement yields: first the observation, then an op with the index of its cohort. */
export interface CohortLine {
  readonly cohort: number | null;
  /** An op preceded by a comma; null if there are more ops than the statement can yield. */
  readonly line: string | null;
}

/** The maximum number of cohorts in a statement that compares whole views, and in any other. */
const maxComparedCohorts = 20;
const maxCohorts = 1_000;

/**
 * Returns how many cohorts can share a statement.
 * @param rows the number of log rows that the statement reads
 */
export function cohortsPerStatement(views: readonly ResolvedView[], rows: number): number {
  if (!views.every(({ view }) => view.cohortView)) return 1;
  const limit = views.some(({ view }) => view.strategy === 'compare') ? maxComparedCohorts : maxCohorts;
  return Math.max(1, Math.min(limit, Math.floor(maxOps / Math.max(1, rows))));
}

const firstParameter = observationParameters + 1;

/**
 * Returns the text of the statement for one cohort, or for any number. It depends only on the views and on which tables
 * have changed, so Postgres plans it once.
 */
export function cohortSql(views: readonly CompiledView[], changes: readonly ChangedTable[], isShared: boolean): string {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  const types = views.flatMap(({ parameterTypes }) => parameterTypes);
  const [scope, value]: [CohortScope, (i: number) => string] = isShared
    ? [cohortScope('tidemark_cohorts'), cohortParameter]
    : [singleScope, (i) => `$${firstParameter + i}::${types[i]}`];
  let count = 0;
  const deltas = views.flatMap((view, i) => {
    const values = view.parameterTypes.map(() => value(count++));
    return deltaOf(isShared ? view.cohortView! : view, i, values, tables, scope) ?? [];
  });
  const queries = [
    `tidemark_observation as materialized (${parameterObservation})`,
    isShared ? cohortsQuery(types, firstParameter) : typesQuery(types),
    ...changes.flatMap(({ table, rows }) => stateQueries(table, { lows: '$1', highs: '$2' }, rows)),
    ...deltas.flatMap((delta) => delta.queries),
  ];
  const ops = deltas
    .flatMap((delta) => delta.ops)
    .map((query) => (isShared ? query : `select null, o.* from (${query}) o`));
  return `with ${queries.join(',\n')}
select tidemark_cohort as cohort, case when size <= ${maxBytes} then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
${ops.map((query) => `    union all\n${query}`).join('\n')}
  ) lines
) sized
limit ${maxOps + 2}`;
}

/** A query that nothing reads. It gives Postgres the types of the parameters on which the deltas do not depend. */
function typesQuery(types: readonly string[]): string {
  return `tidemark_types as (select ${types.map((type, i) => `$${firstParameter + i}::${type}`).join(', ')})`;
}

/** A parameter of the cohort that a row `tidemark_parameters` of `cohortsQuery` describes. */
export function cohortParameter(i: number): string {
  return `tidemark_parameters.tidemark_p${i + 1}`;
}

/**
 * The cohorts as rows with a column for each parameter. They come from the statement's parameters from `first` on,
 * whose values `cohortArrays` returns. Each parameter is an array of its type, whose elements Postgres reads as values
 * of that type. There are no arrays of arrays, so values of array types come as text. In FROM, UNNEST would make a
 * column of each field of a composite type.
 */
export function cohortsQuery(types: readonly string[], first: number): string {
  const columns = types.map((type, i) => {
    const values = `unnest((select $${first + 1 + i}::${isArrayType(type) ? 'text' : type}[]))`;
    return `, ${isArrayType(type) ? `${values}::${type}` : values} as tidemark_p${i + 1}`;
  });
  return `tidemark_cohorts as materialized (
  select unnest((select $${first}::integer[])) as tidemark_cohort${columns.join('')}
)`;
}

/** Returns the values for `cohortsQuery`. */
export function cohortArrays(cohorts: readonly CohortParameters[]): unknown[] {
  return [cohorts.map((_, i) => i), ...cohorts[0]!.map((_, i) => cohorts.map((cohort) => cohort[i]))];
}

/** Returns the values of the statement's parameters. */
export function cohortValues(
  input: PollInput,
  tables: readonly TableFingerprint[],
  cohorts: readonly CohortParameters[],
  isShared: boolean,
): unknown[] {
  const observation = observationValues(input, tables);
  return [...observation, ...(isShared ? cohortArrays(cohorts) : cohorts[0]!)];
}
