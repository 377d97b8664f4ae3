/** What must be known to answer pulls, read in the one snapshot that the answers show. */
import type { Statement } from '../db/database.js';
import { literal } from '../db/literal.js';
import { readSnapshot, type Snapshot, type SnapshotFields, unseenRanges } from '../protocol/snapshot.js';

export interface HeaderInput {
  /** The cookie's snapshot; undefined if there is no usable cookie. */
  readonly base: Snapshot | undefined;
  /** The tick that the cookie names, if any. */
  readonly tick?: string | null | undefined;
  /** The tables that the views read. */
  readonly tables: readonly { readonly id: number; readonly oid: number; readonly outline: string }[];
  /** The pulls to be served; any two may be of one client group. */
  readonly members: readonly Member[];
}

/** One of the pulls that a header serves. */
export interface Member {
  readonly clientGroupID: string;
  /** The cookie was given to this client group, so only mutation IDs that have changed since are wanted. */
  readonly sameGroup: boolean;
  /** The client that the request names, if any. */
  readonly clientID: string | undefined;
}

/** What the database reports to one pull. */
export interface Header extends SharedHeader, MemberHeader {}

/** The header that a statement yields before its patch. */
export interface PatchHeader extends Header {
  /**
   * A table no longer has the outline that is known: the statement may have read another table, or files other than
   * those that hold what its snapshot shows.
   */
  readonly torn: boolean;
}

interface MemberHeader {
  /** The user to whom the client group belongs; null if the group is unknown. */
  readonly owner: string | null;
  /** False if the request names an unknown client. */
  readonly clientKnown: boolean;
  readonly lastMutationIDs: Readonly<Record<string, number>> | null;
  /** The sum of the group's lastMutationIDs. */
  readonly mutations: number;
}

interface SharedHeader {
  readonly snapshot: Snapshot;
  /** The transaction ID that will be assigned next, as far as this database knows. */
  readonly next: bigint;
  /** The database is a standby. */
  readonly recovery: boolean;
  readonly installID: string;
  /** The database's OID; a copy of the database within the cluster has another. */
  readonly database: string;
  /** The newest tick that is older than every transaction in progress; null if there is none. */
  readonly tick: string | null;
  /** This database does not know the tick that the cookie names. */
  readonly diverged: boolean;
  readonly horizon: string;
  /** Cookies whose snapshot has an xmin below this ID are to be renewed. */
  readonly aging: string;
  /** The tables with changes that the base has not seen: `[table, number of log rows, at most 100]`. */
  readonly changed: readonly (readonly [table: number, rows: number])[];
  /** A table was truncated since the base. */
  readonly truncated: boolean;
}

/**
 * How far `tidemark.headers` counts a table's changes, to tell whether there are none, few or many. If a pull reads
 * this many in vain, a new cookie is worthwhile.
 */
export const countedRows = 100;

/** The types of the parameters of `tidemark.headers`, in order. */
const parameterTypes = ['text[]', 'boolean[]', 'text[]', 'xid8[]', 'xid8[]', 'integer[]', 'uuid'];

/** @param written the SQL expression for each of the parameters */
function typed(written: readonly string[]): string {
  return parameterTypes.map((type, i) => `${written[i]}::${type}`).join(', ');
}

const probeSql = `select header::text as line from tidemark.headers(${typed(parameterTypes.map((_, i) => `$${i + 1}`))}) header`;

function values({ base, tick, tables, members }: HeaderInput): unknown[] {
  const ranges = base && unseenRanges(base);
  return [
    members.map(({ clientGroupID }) => clientGroupID),
    members.map(({ sameGroup }) => base !== undefined && sameGroup),
    members.map(({ clientID }) => clientID ?? null),
    ranges?.lows ?? null,
    ranges?.highs ?? null,
    `{${tables.map(({ id }) => id).join()}}`,
    tick ?? null,
  ];
}

/** The header alone, as `line`: the cheap query that is all that most pulls need. */
export function probe(input: HeaderInput): Statement {
  return { name: 'tidemark_probe', text: probeSql, values: values(input) };
}

/** The header as a query without parameters, for a statement that yields the patch in the same snapshot. */
export function headerQuery(input: HeaderInput): string {
  const { tables } = input;
  const [oids, outlines] = [tables.map(({ oid }) => oid), tables.map(({ outline }) => outline)];
  // COPY takes its snapshot before it waits for its tables' locks, so it checks for torn tables once it holds the
  // locks.
  return `select json_build_object('header', tidemark.header(${typed(values(input).map(literal))}), 'torn', exists (
  select from unnest('{${oids.join()}}'::oid[], '{${outlines.join()}}'::bigint[]) known (oid, outline)
  where tidemark.outline(known.oid) is distinct from known.outline
))::text as line`;
}

interface HeaderLine extends Omit<SharedHeader, 'snapshot' | 'next'>, SnapshotFields {
  /** How many transaction IDs had been assigned from the snapshot's xmax on. */
  readonly begun: number;
  readonly members: Readonly<Record<string, MemberHeader>>;
}

/** Copies each field by name: copying objects whose fields are not known takes longer than parsing the line. */
function toHeaders(line: HeaderLine): Header[] {
  const { begun, recovery, installID, database, tick, diverged, horizon, aging, changed, truncated } = line;
  const snapshot = readSnapshot(line);
  const next = snapshot.xmax + BigInt(begun);
  return Object.values(line.members).map(({ owner, clientKnown, lastMutationIDs, mutations }) => ({
    snapshot,
    next,
    recovery,
    installID,
    database,
    tick,
    diverged,
    horizon,
    aging,
    changed,
    truncated,
    owner,
    clientKnown,
    lastMutationIDs,
    mutations,
  }));
}

/**
 * Reads the header of each member, in order, from a probe's line.
 * @throws Problem if a standby has seen more than can be listed.
 */
export function readHeaders(line: string): Header[] {
  return toHeaders(JSON.parse(line) as HeaderLine);
}

/** The same for the line that comes with a patch. */
export function readPatchHeaders(line: string): PatchHeader[] {
  const { header, torn } = JSON.parse(line) as { header: HeaderLine; torn: boolean };
  return toHeaders(header).map((one) => ({ ...one, torn }));
}
