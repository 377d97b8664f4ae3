/** Small deltas of many client views in one prepared statement: their parameters are its parameters. */
import type { BoundView } from '../../view/client-views.js';
import type { CompiledView } from '../../view/compile/compile.js';
import { type LookInput, type Outlined, parameterReport, reportParameters, reportValues } from '../look.js';
import { alone, deltaOf, type Seating, seatedAt } from './delta.js';
import type { TableChanges } from './patch-sql.js';
import { stateQueries } from './states.js';

/** The parameters of a client view: those of each of its views, in order, as text. */
export type Seat = readonly (string | null)[];

/** The ops that a statement yields at most, for all of its seats, and their size in bytes. */
export const mostOps: number = 5_000;
const mostBytes = 4 * 1024 * 1024;

/** The seat of a client view. */
export function seatOf(views: readonly BoundView[]): Seat {
  return views.flatMap(({ texts }) => texts);
}

/** What a statement yields: first the report; then a line for each op, and the index of the seat that it is for. */
export interface SeatedLine {
  readonly seat: number | null;
  /** An op preceded by a comma; null if there are more ops than can be yielded. */
  readonly line: string | null;
}

/** Of views that are compared as a whole, so many are read in one statement at most. */
const mostCompared = 20;
const mostSeats = 1_000;

/**
 * How many seats can share a statement.
 * @param rows how many log rows the statement reads
 */
export function sharedSeats(views: readonly BoundView[], rows: number): number {
  if (!views.every(({ view }) => view.seated)) return 1;
  const bound = views.some(({ view }) => view.strategy === 'compare') ? mostCompared : mostSeats;
  return Math.max(1, Math.min(bound, Math.floor(mostOps / Math.max(1, rows))));
}

const firstParameter = reportParameters + 1;

/**
 * The text of the statement for one seat, or for any number. It depends on nothing but the views and on which tables
 * have changed, so that Postgres plans it once.
 */
export function seatedSql(views: readonly CompiledView[], changes: readonly TableChanges[], isShared: boolean): string {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  const types = views.flatMap(({ parameterTypes }) => parameterTypes);
  const [seating, value]: [Seating, (i: number) => string] = isShared
    ? [seatedAt('tidemark_seats'), seatParameter]
    : [alone, (i) => `$${firstParameter + i}::${types[i]}`];
  let count = 0;
  const deltas = views.flatMap((view, i) => {
    const values = view.parameterTypes.map(() => value(count++));
    return deltaOf(isShared ? view.seated! : view, i, values, tables, seating) ?? [];
  });
  const queries = [
    `tidemark_report as materialized (${parameterReport})`,
    isShared ? seatsQuery(types, firstParameter) : typesQuery(types),
    ...changes.flatMap(({ table, rows }) => stateQueries(table, { lows: '$1', highs: '$2' }, rows)),
    ...deltas.flatMap((delta) => delta.queries),
  ];
  const ops = deltas
    .flatMap((delta) => delta.ops)
    .map((query) => (isShared ? query : `select null, o.* from (${query}) o`));
  return `with ${queries.join(',\n')}
select tidemark_seat as seat, case when size <= ${mostBytes} then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_seat, line from tidemark_report
${ops.map((query) => `    union all\n${query}`).join('\n')}
  ) lines
) sized
limit ${mostOps + 2}`;
}

/** A query that nothing reads. It tells Postgres the types of the parameters that the deltas do not depend on. */
function typesQuery(types: readonly string[]): string {
  return `tidemark_types as (select ${types.map((type, i) => `$${firstParameter + i}::${type}`).join(', ')})`;
}

/** A parameter of the seat that a row `tidemark_l` of `seatsQuery` describes. */
export function seatParameter(i: number): string {
  return `tidemark_l.tidemark_p${i + 1}`;
}

/**
 * The seats as rows, with a column for each parameter; from the statement's parameters on that `seatsValues` gives.
 * Each parameter comes as an array of its type, whose elements Postgres reads as it reads a value of that type. There are
 * no arrays of arrays: those come as arrays of text. In FROM, UNNEST would make a column of each field of a composite
 * type.
 */
export function seatsQuery(types: readonly string[], first: number): string {
  const columns = types.map((type, i) => {
    const values = `unnest((select $${first + 1 + i}::${isArray(type) ? 'text' : type}[]))`;
    return `, ${isArray(type) ? `${values}::${type}` : values} as tidemark_p${i + 1}`;
  });
  return `tidemark_seats as materialized (
  select unnest((select $${first}::integer[])) as tidemark_seat${columns.join('')}
)`;
}

/** The names of array types, and of few others, begin with an underscore. */
function isArray(type: string): boolean {
  return /\."?_/.test(type);
}

/** The values for `seatsQuery`. */
export function seatsValues(seats: readonly Seat[]): unknown[] {
  return [seats.map((_, i) => i), ...seats[0]!.map((_, i) => seats.map((seat) => seat[i]))];
}

/** The values of the statement's parameters. */
export function seatedValues(
  input: LookInput,
  tables: readonly Outlined[],
  seats: readonly Seat[],
  isShared: boolean,
): unknown[] {
  const report = reportValues(input, tables);
  return [...report, ...(isShared ? seatsValues(seats) : seats[0]!)];
}
