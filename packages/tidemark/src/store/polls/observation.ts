/** Observations: what the database reports in one snapshot, to answer pulls and to poke. Pure. */
import type { CookieMeaning } from '../../protocol/cookie.js';
import type { History } from '../../protocol/history.js';
import { covers, readSnapshot, type Snapshot, type SnapshotFields, upTo } from '../../protocol/snapshot.js';
import {
  type ClientFields,
  type GroupRecord,
  type GroupRequest,
  type GroupState,
  groupStateOf,
} from './group-state.js';
import { type HistoryLine, readHistory } from './history.js';

/** The observed state that one pull needs. */
export interface ObservedState extends DatabaseState, GroupState {}

/** The state of the database, which all pulls share. */
export interface DatabaseState {
  /** The snapshot that clients and this process can rely on having seen; see `upTo`. */
  readonly snapshot: Snapshot;
  /** The snapshot that is visible to the statement. */
  readonly visibleSnapshot: Snapshot;
  /** The next transaction ID to be assigned, as far as this database can determine. */
  readonly nextXid: bigint;
  /** The database is a standby. */
  readonly recovery: boolean;
  /**
   * When the database server started, and when it last recovered from a crash. A database is never restored or replaced
   * under a running server.
   */
  readonly serverStart: string;
  readonly installID: string;
  /** The database's OID; a copy of the database within the cluster has a different one. */
  readonly database: string;
  readonly history: History;
  /** The newest heartbeat below the snapshot's xmin; null if there is none. */
  readonly heartbeat: string | null;
  /** This database does not have the heartbeat that the statement named. */
  readonly diverged: boolean;
  /** The change log no longer has transactions below this ID. */
  readonly horizon: bigint;
  /** Cookies whose snapshot has an xmin below this ID must be renewed. */
  readonly aging: bigint;
  /** The tables with changes that the base has not seen: `[table, number of log rows, at most maxRows]`. */
  readonly changeCounts: readonly (readonly [table: number, rows: number])[];
  /** A table was truncated since the base. */
  readonly truncated: boolean;
}

/** The maximum number of a table's log rows that a statement counts; see `tidemark.poll_inline`. */
export const maxRows = 10_000;

/** The maximum number of mutations that a statement lists; see `tidemark.poll_inline`. */
export const maxMutations = 1_000;

/** A table with this many log rows has many changes. A pull that reads this many to no effect renews its cookie. */
export const manyRows = 100;

/** True if so few rows have changed that looking up each one is the best plan. */
export function isSmall(changeCounts: DatabaseState['changeCounts']): boolean {
  return changeCounts.every(([, rows]) => rows < manyRows);
}

/** A statement's result: the database's state, the transactions behind its changes if requested, and client groups. */
export interface Observation {
  readonly state: DatabaseState;
  readonly changes: readonly TableChangeFields[];
  readonly truncations: readonly (readonly [table: number, xid: string])[];
  /** The applied mutations, at most `maxMutations`, if requested. */
  readonly mutations: readonly (readonly [clientGroupID: string, userID: string | null, xid: string])[];
  readonly groups: ReadonlyMap<string, GroupRecord>;
}

/** A table's log rows that the base has not seen: their number and, if requested, the number for each transaction. */
export type TableChangeFields = readonly [
  table: number,
  rows: number,
  xids: readonly (readonly [xid: string, rows: number])[] | null,
];

interface ObservationLine
  extends Omit<
      DatabaseState,
      'snapshot' | 'visibleSnapshot' | 'nextXid' | 'history' | 'horizon' | 'aging' | 'changeCounts' | 'truncated'
    >,
    SnapshotFields {
  readonly history: HistoryLine;
  /** The newest transaction that has left a row; null if there is none. */
  readonly durableXid: string | null;
  readonly horizon: string;
  readonly aging: string;
  /** The number of transaction IDs assigned from the snapshot's xmax on. */
  readonly xidsSinceXmax: number;
  readonly changes: readonly TableChangeFields[];
  readonly truncations: Observation['truncations'];
  readonly mutations: Observation['mutations'];
  readonly groups: Readonly<Record<string, readonly [owner: string | null, clients: readonly ClientFields[]]>>;
}

/**
 * Reads the result of `tidemark.poll`.
 * @throws Problem if a standby has seen more than can be listed.
 */
export function readObservation(line: string): Observation {
  return toObservation(JSON.parse(line) as ObservationLine);
}

/** The observation that a statement yields before its patch. */
export interface PatchObservation extends Observation {
  /**
   * A table no longer has the expected fingerprint. The statement may have read another table, or files other than
   * those with the rows that its snapshot shows.
   */
  readonly torn: boolean;
}

/** Reads the observation from the line that comes with a patch. */
export function readPatchObservation(line: string): PatchObservation {
  const { observation, torn } = JSON.parse(line) as { observation: ObservationLine; torn: boolean };
  return { ...toObservation(observation), torn };
}

/** Copies each field by name, because copying an object with unknown fields takes longer than parsing the line. */
function toObservation(line: ObservationLine): Observation {
  const { xidsSinceXmax, recovery, serverStart, installID, database, history, heartbeat, diverged, durableXid, aging } =
    line;
  const { changes, truncations, mutations, groups } = line;
  const visibleSnapshot = readSnapshot(line);
  const horizon = BigInt(line.horizon);
  const state = {
    snapshot: recovery ? visibleSnapshot : upTo(durableEnd(durableXid, horizon), visibleSnapshot),
    visibleSnapshot,
    nextXid: visibleSnapshot.xmax + BigInt(xidsSinceXmax),
    recovery,
    serverStart,
    installID,
    database,
    history: readHistory(history),
    heartbeat,
    diverged,
    horizon,
    aging: BigInt(aging),
    changeCounts: changes.map(([table, rows]) => [table, rows] as const),
    truncated: truncations.length > 0,
  };
  const records = Object.entries(groups).map(([id, [owner, clients]]) => [id, { owner, clients }] as const);
  return { state, changes, truncations, mutations, groups: new Map(records) };
}

/** Returns the transaction ID below which everything is durable, whatever happens to the database server. */
function durableEnd(durableXid: string | null, horizon: bigint): bigint {
  const end = durableXid === null ? 0n : BigInt(durableXid) + 1n;
  return end > horizon ? end : horizon;
}

/** Returns the state for one pull, from an observation with the record of its client group. */
export function observedStateOf(
  { state, groups }: Observation,
  request: GroupRequest,
  base: Snapshot | undefined,
): ObservedState {
  return joinStates(state, groupStateOf(groups.get(request.clientGroupID)!, request, base));
}

/**
 * Joins the state for one pull. Copies each field by name, as `toObservation` does.
 * @param newChanges what has changed since the pull's base, if `state` was read for another base
 */
export function joinStates(
  state: DatabaseState,
  group: GroupState,
  newChanges: Pick<DatabaseState, 'changeCounts' | 'truncated' | 'diverged'> = state,
): ObservedState {
  return {
    snapshot: state.snapshot,
    visibleSnapshot: state.visibleSnapshot,
    nextXid: state.nextXid,
    recovery: state.recovery,
    serverStart: state.serverStart,
    installID: state.installID,
    database: state.database,
    history: state.history,
    heartbeat: state.heartbeat,
    diverged: newChanges.diverged,
    horizon: state.horizon,
    aging: state.aging,
    changeCounts: newChanges.changeCounts,
    truncated: newChanges.truncated,
    owner: group.owner,
    clientKnown: group.clientKnown,
    lastMutationIDs: group.lastMutationIDs,
    mutations: group.mutations,
  };
}

/**
 * True if the state's statement certainly shows everything that a cookie's snapshot has seen.
 *
 * A primary's snapshot says exactly what it has seen. It can still be behind a standby's, because standbys often replay
 * a commit before the primary itself shows it, and always do if commits wait for standbys.
 *
 * A standby's snapshot does not list everything that it has seen. But on a standby, transactions end in the order of
 * the write-ahead log, and the last one that has ended is directly below xmax. Once that is a transaction that ended
 * after everything that the cookie's snapshot has seen, the standby shows all of it.
 */
export function showsAllOf(
  { parsedSnapshot, parsedNext }: CookieMeaning,
  { visibleSnapshot, recovery }: Pick<ObservedState, 'visibleSnapshot' | 'recovery'>,
): boolean {
  return (recovery && visibleSnapshot.xmax > parsedNext) || covers(visibleSnapshot, parsedSnapshot);
}
