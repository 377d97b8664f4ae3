/** The statements that read a report: alone, or as the first part of a statement that also yields a patch. */
import type { Statement } from '../db/database.js';
import { literal } from '../db/literal.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { SharedHeader } from './header.js';

/** What is to be reported. */
export interface LookInput {
  /** What has been logged since this snapshot; nothing if undefined. */
  readonly base: Snapshot | undefined;
  /** The IDs, in the change log, of the tables that matter. */
  readonly tables: readonly number[];
  /** Whether changes are listed by transaction, and mutations too. */
  readonly isListed?: boolean | undefined;
  /** A tick that the database should know. */
  readonly tick?: string | null | undefined;
  /** The client groups whose records are wanted. */
  readonly groupIDs?: readonly string[] | undefined;
}

/** A table, and the outline that it should have. */
export interface Outlined {
  readonly oid: number;
  readonly outline: string;
}

/** The types of the parameters of `tidemark.look`, in order. */
const parameterTypes = ['xid8[]', 'xid8[]', 'integer[]', 'boolean', 'uuid', 'text[]'];

/** @param written the SQL expression for each of the parameters */
function typed(written: readonly string[]): string {
  return parameterTypes.map((type, i) => `${written[i]}::${type}`).join(', ');
}

const parameters = parameterTypes.map((_, i) => `$${i + 1}`);

/** The values of the parameters of `tidemark.look`. */
function lookValues({ base, tables, isListed, tick, groupIDs }: LookInput): unknown[] {
  const ranges = base && unseenRanges(base);
  return [
    ranges?.lows ?? null,
    ranges?.highs ?? null,
    `{${tables.join()}}`,
    isListed ?? false,
    tick ?? null,
    groupIDs ?? [],
  ];
}

const lookSql = `select l::text as line from tidemark.look(${typed(parameters)}) l`;

/** The report alone, as `line`: the cheap query that is all that most pulls need. */
export function look(input: LookInput): Statement {
  return { name: 'tidemark_look', isCall: true, text: lookSql, values: lookValues(input) };
}

/** What is known of the database from an earlier report. */
export type Seen = Pick<SharedHeader, 'shown' | 'next' | 'started'>;

/**
 * On a primary, nothing has been committed between two snapshots with the same text. On a standby, something may have
 * been: its snapshots do not list what is in progress. That it is one is asked in a subquery, since the function is
 * volatile: Postgres would look first, and then ask.
 */
const newsSql = `${lookSql}
where (select pg_is_in_recovery())
  or (pg_current_snapshot()::text, age(pg_snapshot_xmax(pg_current_snapshot())::xid)::text, tidemark.started())
    is distinct from ($7::text, $8::text, $9::text)`;

/** The same, but nothing if the database is as it was when it was seen. */
export function news(input: LookInput, seen: Seen | undefined): Statement {
  const known = seen ? [seen.shown.text, String(seen.next - seen.shown.xmax), seen.started] : [null, null, null];
  return { name: 'tidemark_news', isCall: true, text: newsSql, values: [...lookValues(input), ...known] };
}

/**
 * The report, and whether the tables are torn, as a query for a statement that yields the patch in the same snapshot.
 * COPY takes its snapshot before it waits for its tables' locks, so it checks for torn tables once it holds the locks.
 * @param written SQL expressions for the parameters of `tidemark.look`
 * @param known SQL expressions for the tables' OIDs and outlines
 */
function reportQuery(written: readonly string[], [oids, outlines]: readonly [string, string]): string {
  return `select json_build_object('report', tidemark.look(${typed(written)}), 'torn', exists (
  select from unnest(${oids}, ${outlines}) known (oid, outline)
  where tidemark.outline(known.oid) is distinct from known.outline
))::text as line`;
}

/** The values of `known`, as Postgres array literals. */
function outlineValues(tables: readonly Outlined[]): readonly [oids: string, outlines: string] {
  return [`{${tables.map(({ oid }) => oid).join()}}`, `{${tables.map(({ outline }) => outline).join()}}`];
}

/** For a statement without parameters. */
export function literalReport(input: LookInput, tables: readonly Outlined[]): string {
  const [oids, outlines] = outlineValues(tables);
  return reportQuery(lookValues(input).map(literal), [`'${oids}'::oid[]`, `'${outlines}'::bigint[]`]);
}

/**
 * For a statement whose first parameters are `reportValues`.
 */
export const parameterReport: string = reportQuery(parameters, [
  `$${parameters.length + 1}::oid[]`,
  `$${parameters.length + 2}::bigint[]`,
]);

/** The values of the parameters in `parameterReport`. */
export function reportValues(input: LookInput, tables: readonly Outlined[]): unknown[] {
  return [...lookValues(input), ...outlineValues(tables)];
}

/** How many there are. The first two are the ends of the ranges of unseen transactions. */
export const reportParameters: number = parameters.length + 2;
