/** What must be known to answer pulls and to poke, as the database reports it in one snapshot. Pure. */
import type { History } from '../protocol/history.js';
import { hasSeen, readSnapshot, type Snapshot, type SnapshotFields, upTo } from '../protocol/snapshot.js';
import { type HistoryLine, readHistory } from './history.js';

/** One of the pulls that a statement serves. */
export interface Member {
  readonly clientGroupID: string;
  /** The cookie was given to this client group, so only mutation IDs that have changed since are wanted. */
  readonly sameGroup: boolean;
  /** The client that the request names, if any. */
  readonly clientID: string | undefined;
}

/** What the database reports to one pull. */
export interface Header extends SharedHeader, MemberHeader {}

/** What it reports about the member itself. */
export interface MemberHeader {
  /** The user to whom the client group belongs; null if the group is unknown. */
  readonly owner: string | null;
  /** False if the request names an unknown client. */
  readonly clientKnown: boolean;
  readonly lastMutationIDs: Readonly<Record<string, number>> | null;
  /** The sum of the group's lastMutationIDs. */
  readonly mutations: number;
}

/** What it reports to everyone. */
export interface SharedHeader {
  /** What clients and this process may remember to have seen; see `upTo`. */
  readonly snapshot: Snapshot;
  /** What the statement shows. */
  readonly shown: Snapshot;
  /** The transaction ID that will be assigned next, as far as this database knows. */
  readonly next: bigint;
  /** The database is a standby. */
  readonly recovery: boolean;
  /**
   * When the database server was started, and last recovered from a crash: a database is never restored or replaced
   * under a running server.
   */
  readonly started: string;
  readonly installID: string;
  /** The database's OID; a copy of the database within the cluster has another. */
  readonly database: string;
  readonly history: History;
  /** The newest tick that is older than every transaction in progress; null if there is none. */
  readonly tick: string | null;
  /** This database does not know the tick that was named. */
  readonly diverged: boolean;
  /** The change log no longer has the transactions below this ID. */
  readonly horizon: bigint;
  /** Cookies whose snapshot has an xmin below this ID are to be renewed. */
  readonly aging: bigint;
  /** The tables with changes that the base has not seen: `[table, number of log rows, at most mostRows]`. */
  readonly changed: readonly (readonly [table: number, rows: number])[];
  /** A table was truncated since the base. */
  readonly truncated: boolean;
}

/** How far a statement counts a table's changes; see `tidemark.looks`. */
export const mostRows = 10_000;

/** How many mutations a statement lists at most; see `tidemark.looks`. */
export const mostMutations = 1_000;

/** From this number of log rows on, a table has many changes. If a pull reads as many in vain, its cookie is renewed. */
export const manyRows = 100;

/** Whether so little has changed that looking up each changed row is the best plan. */
export function isSmall(changed: SharedHeader['changed']): boolean {
  return changed.every(([, rows]) => rows < manyRows);
}

/** A client group's record. */
export interface GroupRecord {
  readonly owner: string | null;
  readonly clients: readonly ClientFields[];
}

/** A client, its lastMutationID, and the transaction that applied that mutation. */
export type ClientFields = readonly [id: string, lastMutationID: number, xid: string];

/** What one statement reports: the header, the transactions behind it if they were asked for, and client groups. */
export interface Report {
  readonly header: SharedHeader;
  readonly changes: readonly Change[];
  readonly truncations: readonly (readonly [table: number, xid: string])[];
  /** Mutations that were applied: at most `mostMutations`, if they were asked for. */
  readonly mutations: readonly (readonly [clientGroupID: string, userID: string | null, xid: string])[];
  readonly groups: ReadonlyMap<string, GroupRecord>;
}

/** A table's log rows that the base has not seen, in all and, if asked for, by transaction. */
export type Change = readonly [
  table: number,
  rows: number,
  xids: readonly (readonly [xid: string, rows: number])[] | null,
];

interface ReportLine
  extends Omit<SharedHeader, 'snapshot' | 'shown' | 'next' | 'history' | 'horizon' | 'aging' | 'changed' | 'truncated'>,
    SnapshotFields {
  readonly history: HistoryLine;
  /** The newest transaction that has left something; null if there is none. */
  readonly kept: string | null;
  readonly horizon: string;
  readonly aging: string;
  /** How many transaction IDs had been assigned from the snapshot's xmax on. */
  readonly begun: number;
  readonly changes: readonly Change[];
  readonly truncations: Report['truncations'];
  readonly mutations: Report['mutations'];
  readonly groups: Readonly<Record<string, readonly [owner: string | null, clients: readonly ClientFields[]]>>;
}

/**
 * Reads what `tidemark.look` returns.
 * @throws Problem if a standby has seen more than can be listed.
 */
export function readReport(line: string): Report {
  return toReport(JSON.parse(line) as ReportLine);
}

/** The header that a statement yields before its patch. */
export interface PatchReport extends Report {
  /**
   * A table no longer has the outline that is known: the statement may have read another table, or files other than
   * those that hold what its snapshot shows.
   */
  readonly torn: boolean;
}

/** The same for the line that comes with a patch. */
export function readPatchReport(line: string): PatchReport {
  const { report, torn } = JSON.parse(line) as { report: ReportLine; torn: boolean };
  return { ...toReport(report), torn };
}

/** Copies each field by name: copying objects whose fields are not known takes longer than parsing the line. */
function toReport(line: ReportLine): Report {
  const { begun, recovery, started, installID, database, history, tick, diverged, kept, aging } = line;
  const { changes, truncations, mutations, groups } = line;
  const shown = readSnapshot(line);
  const horizon = BigInt(line.horizon);
  const header = {
    snapshot: recovery ? shown : upTo(endOf(kept, horizon), shown),
    shown,
    next: shown.xmax + BigInt(begun),
    recovery,
    started,
    installID,
    database,
    history: readHistory(history),
    tick,
    diverged,
    horizon,
    aging: BigInt(aging),
    changed: changes.map(([table, rows]) => [table, rows] as const),
    truncated: truncations.length > 0,
  };
  const records = Object.entries(groups).map(([id, [owner, clients]]) => [id, { owner, clients }] as const);
  return { header, changes, truncations, mutations, groups: new Map(records) };
}

/** Below this transaction ID, all is kept, whatever happens to the database server. */
function endOf(kept: string | null, horizon: bigint): bigint {
  const end = kept === null ? 0n : BigInt(kept) + 1n;
  return end > horizon ? end : horizon;
}

/** The header of one member, from a report that has the record of its client group. */
export function headerOf({ header, groups }: Report, member: Member, base: Snapshot | undefined): Header {
  return joinHeaders(header, memberHeader(groups.get(member.clientGroupID)!, member, base));
}

/**
 * The header of one member. As in `toReport`, each field is copied by name.
 * @param news what has changed since the base, where `shared` was read for another
 */
export function joinHeaders(
  shared: SharedHeader,
  own: MemberHeader,
  news: Pick<SharedHeader, 'changed' | 'truncated' | 'diverged'> = shared,
): Header {
  const { owner, clientKnown, lastMutationIDs, mutations } = own;
  const { changed, truncated, diverged } = news;
  const { snapshot, shown, next, recovery, started, installID, database, history, tick, horizon, aging } = shared;
  return {
    snapshot,
    shown,
    next,
    recovery,
    started,
    installID,
    database,
    history,
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
  };
}

function memberHeader(record: GroupRecord, member: Member, base: Snapshot | undefined): MemberHeader {
  const { owner, clients } = record;
  const { sameGroup, clientID } = member;
  const moved = clients.filter(([, , xid]) => !base || !sameGroup || !hasSeen(base, BigInt(xid)));
  return {
    owner,
    clientKnown: clientID === undefined || clients.some(([id]) => id === clientID),
    lastMutationIDs: moved.length === 0 ? null : Object.fromEntries(moved.map(([id, last]) => [id, last])),
    mutations: clients.reduce((sum, [, last]) => sum + last, 0),
  };
}
