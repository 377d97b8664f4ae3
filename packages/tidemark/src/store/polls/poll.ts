/** The statements that poll: alone, or as the first part of a statement that also yields a patch. */
import type { Statement } from '../../db/database.js';
import { literal } from '../../db/literal.js';
import { type Snapshot, unseenRanges } from '../../protocol/snapshot.js';
import type { DatabaseState } from './observation.js';

/** The input of a poll. */
export interface PollInput {
  /** The snapshot since which the poll reports changes; none if undefined. */
  readonly base: Snapshot | undefined;
  /** The change-log IDs of the tables that matter. */
  readonly tables: readonly number[];
  /** True if the poll lists changes by transaction, and also mutations. */
  readonly isListed?: boolean | undefined;
  /** A heartbeat that the database should have. */
  readonly heartbeat?: string | null | undefined;
  /** The client groups whose records the poll reads. */
  readonly groupIDs?: readonly string[] | undefined;
}

/** A table, and its expected fingerprint. */
export interface TableFingerprint {
  readonly oid: number;
  readonly fingerprint: string;
}

/** The types of the parameters of `tidemark.poll`, in order. */
const parameterTypes = ['xid8[]', 'xid8[]', 'integer[]', 'boolean', 'uuid', 'text[]'];

/** @param expressions the SQL expression for each of the parameters */
function castArguments(expressions: readonly string[]): string {
  return parameterTypes.map((type, i) => `${expressions[i]}::${type}`).join(', ');
}

const parameters = parameterTypes.map((_, i) => `$${i + 1}`);

/** The values of the parameters of `tidemark.poll`. */
function pollValues({ base, tables, isListed, heartbeat, groupIDs }: PollInput): unknown[] {
  const ranges = base && unseenRanges(base);
  return [
    ranges?.lows ?? null,
    ranges?.highs ?? null,
    `{${tables.join()}}`,
    isListed ?? false,
    heartbeat ?? null,
    groupIDs ?? [],
  ];
}

const pollSql = `select l::text as line from tidemark.poll(${castArguments(parameters)}) l`;

/** Yields the observation alone, as `line`. This cheap query is all that most pulls need. */
export function pollStatement(input: PollInput): Statement {
  return { name: 'tidemark_poll', isCall: true, text: pollSql, values: pollValues(input) };
}

/** The state of the database in an earlier observation. */
export type PreviousState = Pick<DatabaseState, 'visibleSnapshot' | 'nextXid' | 'serverStart'>;

/**
 * On a primary, nothing has been committed between two snapshots with the same text. On a standby, something may have
 * been, because its snapshots do not list transactions in progress. The check for a standby is in a subquery because
 * `pg_is_in_recovery` is volatile: Postgres would otherwise poll first, and check afterwards.
 */
const pollIfChangedSql = `${pollSql}
where (select pg_is_in_recovery())
  or (pg_current_snapshot()::text, age(pg_snapshot_xmax(pg_current_snapshot())::xid)::text, tidemark.server_start())
    is distinct from ($7::text, $8::text, $9::text)`;

/** Yields the observation as `line`, or no row if the database is still in the previous state. */
export function pollIfChanged(input: PollInput, previousState: PreviousState | undefined): Statement {
  const previousValues = previousState
    ? [
        previousState.visibleSnapshot.text,
        String(previousState.nextXid - previousState.visibleSnapshot.xmax),
        previousState.serverStart,
      ]
    : [null, null, null];
  return {
    name: 'tidemark_poll_if_changed',
    isCall: true,
    text: pollIfChangedSql,
    values: [...pollValues(input), ...previousValues],
  };
}

/**
 * The observation, and whether the tables are torn, for a statement that yields the patch in the same snapshot. COPY
 * takes its snapshot before it waits for its tables' locks, so it checks for torn tables while it holds the locks.
 * @param expressions SQL expressions for the parameters of `tidemark.poll`
 * @param expected SQL expressions for the tables' OIDs and fingerprints
 */
function observationQuery(expressions: readonly string[], [oids, fingerprints]: readonly [string, string]): string {
  return `select json_build_object('observation', tidemark.poll(${castArguments(expressions)}), 'torn', exists (
  select from unnest(${oids}, ${fingerprints}) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line`;
}

/** The values of `expected`, as Postgres array literals. */
function fingerprintValues(tables: readonly TableFingerprint[]): readonly [oids: string, fingerprints: string] {
  return [`{${tables.map(({ oid }) => oid).join()}}`, `{${tables.map(({ fingerprint }) => fingerprint).join()}}`];
}

/** The observation query for a statement without parameters. */
export function literalObservation(input: PollInput, tables: readonly TableFingerprint[]): string {
  const [oids, fingerprints] = fingerprintValues(tables);
  return observationQuery(pollValues(input).map(literal), [`'${oids}'::oid[]`, `'${fingerprints}'::bigint[]`]);
}

/** The observation query for a statement whose first parameters are `observationValues`. */
export const parameterObservation: string = observationQuery(parameters, [
  `$${parameters.length + 1}::oid[]`,
  `$${parameters.length + 2}::bigint[]`,
]);

/** The values of the parameters in `parameterObservation`. */
export function observationValues(input: PollInput, tables: readonly TableFingerprint[]): unknown[] {
  return [...pollValues(input), ...fingerprintValues(tables)];
}

/** The number of `observationValues`. The first two are the ends of the ranges of unseen transactions. */
export const observationParameters: number = parameters.length + 2;
