/** The newest part of the change log, in memory: which transactions changed which tables, and moved which groups. */
import { BoundedMap } from '../bounded-map.js';
import { covers, hasSeen, type Snapshot, without } from '../protocol/snapshot.js';
import { type GroupRecord, mostMutations, mostRows, type Report, type SharedHeader } from '../store/header.js';
import { Transactions } from './transactions.js';

/** What has been logged since a base, as far as some tables are concerned. */
export interface Gap {
  /** The tables that have changed: `[table, number of log rows]`. */
  readonly changed: SharedHeader['changed'];
  readonly truncated: boolean;
  /**
   * A snapshot that has seen the same of these tables, the same one for all bases that have; undefined if it is not known
   * which transactions changed them.
   */
  readonly base: Snapshot | undefined;
}

interface TableLog {
  readonly changes: Transactions;
  readonly truncations: Transactions;
  /** So much was logged before this snapshot that it is not known which transactions did it. */
  blurredBefore: Snapshot | undefined;
}

/** How many client groups are remembered, how many ticks, and how many gaps. */
const keptGroups = 20_000;
const keptTicks = 1_000;
const keptGaps = 1_000;

/**
 * What a server knows about one history of one database. It grows with each report, and forgets what is oldest. It says
 * only what is true at the newest report's snapshot and later: that a base has not seen a transaction.
 */
export class Window {
  readonly #tables: ReadonlyMap<number, TableLog>;
  readonly #most: number;
  readonly #ticks = new BoundedMap<string, true>(keptTicks);
  readonly #groups = new BoundedMap<string, GroupRecord>(keptGroups);
  /** What has been found out since the newest report. */
  #gaps = new BoundedMap<string, Gap>(keptGaps);
  readonly #moves = new Transactions();
  readonly #movesOf = new Map<string, Transactions>();
  #movesBlurredBefore: Snapshot | undefined;
  /** All that this snapshot has not seen is known. */
  #from: Snapshot;
  #header: SharedHeader;
  #size = 0;
  /** Snapshots after `from`, from each of which on a part of the entries came. */
  readonly #marks: { readonly snapshot: Snapshot; readonly size: number }[] = [];

  /**
   * @param header of the report with which it begins
   * @param tables the tables, by their IDs in the change log, whose changes the reports list
   * @param most how many transactions of a table or a client group are remembered
   */
  constructor(header: SharedHeader, tables: readonly number[], most: number) {
    const log = (): TableLog => ({
      changes: new Transactions(),
      truncations: new Transactions(),
      blurredBefore: undefined,
    });
    this.#tables = new Map(tables.map((table) => [table, log()]));
    this.#most = most;
    this.#header = header;
    this.#from = header.snapshot;
    if (header.tick !== null) this.#ticks.set(header.tick, true);
  }

  /** The header of the newest report. */
  get header(): SharedHeader {
    return this.#header;
  }

  /** Whether the reports list the changes of all these tables. */
  lists(tables: readonly number[]): boolean {
    return tables.every((table) => this.#tables.has(table));
  }

  /** Whether a report that was asked for with the newest header's tick is of the same history, and later. */
  isContinuedBy(header: SharedHeader): boolean {
    const { started, installID, database, diverged, next, shown, recovery, horizon } = header;
    const before = this.#header;
    return (
      started === before.started &&
      installID === before.installID &&
      database === before.database &&
      recovery === before.recovery &&
      !diverged &&
      (recovery || next >= before.next) &&
      // Otherwise, what was logged in between may have been deleted.
      before.snapshot.xmin >= horizon &&
      covers(shown, before.snapshot)
    );
  }

  /** Adds a report that continues it: about everything that an earlier snapshot of this window had not seen. */
  extend({ header, changes, truncations, mutations }: Report): void {
    const before = this.#header.snapshot;
    for (const [table, rows, xids] of changes) {
      const log = this.#tables.get(table);
      if (!log) continue;
      if (rows >= mostRows || !xids) log.blurredBefore = header.snapshot;
      for (const [xid, count] of xids ?? []) this.#add(log.changes, before, BigInt(xid), count);
    }
    for (const [table, xid] of truncations) {
      const log = this.#tables.get(table);
      if (log) this.#add(log.truncations, before, BigInt(xid), 1);
    }
    if (mutations.length >= mostMutations) this.#movesBlurredBefore = header.snapshot;
    for (const [group, , xid] of mutations) {
      const moves = this.#movesOf.get(group) ?? new Transactions();
      this.#movesOf.set(group, moves);
      this.#add(moves, before, BigInt(xid), 1);
      this.#add(this.#moves, before, BigInt(xid), 1);
    }
    if (header.tick !== null) this.#ticks.set(header.tick, true);
    this.#header = header;
    this.#gaps = new BoundedMap(keptGaps);
    this.#forget();
  }

  /** Remembers records that a statement has read, and the tick that it has found. */
  learn(groups: ReadonlyMap<string, GroupRecord>, tick?: string | null): void {
    for (const [id, record] of groups) this.#groups.set(id, record);
    if (tick) this.#ticks.set(tick, true);
  }

  /**
   * A record of a client group, perhaps an old one: an owner, once there is one, never changes, and clients are only
   * added.
   */
  group(id: string): GroupRecord | undefined {
    return this.#groups.get(id);
  }

  knowsTick(tick: string): boolean {
    return this.#ticks.get(tick) === true;
  }

  /** Whether everything is known that the base has not seen, and the newest report's snapshot has. */
  reaches(base: Snapshot): boolean {
    return covers(base, this.#from);
  }

  /** What has been logged since a base that the window reaches. */
  since(base: Snapshot, tables: readonly number[]): Gap {
    // A base can be newer: it is noted of cookies that nothing has happened to them, up to some statement's snapshot.
    if (covers(base, this.#header.snapshot)) return { changed: [], truncated: false, base };
    const key = `${tables.join()} ${base.text}`;
    const known = this.#gaps.get(key);
    if (known) return known;
    const gap = this.#find(base, tables);
    this.#gaps.set(key, gap);
    return gap;
  }

  #find(base: Snapshot, tables: readonly number[]): Gap {
    const changed: (readonly [table: number, rows: number])[] = [];
    const xids = new Set<bigint>();
    let truncated = false;
    let isBlurred = false;
    for (const table of tables) {
      const { changes, truncations, blurredBefore } = this.#tables.get(table)!;
      if (blurredBefore && !covers(base, blurredBefore)) {
        isBlurred = true;
        changed.push([table, mostRows]);
      } else {
        const unseen = changes.since(base);
        if (unseen.length === 0) continue;
        changed.push([table, unseen.reduce((sum, { rows }) => sum + rows, 0)]);
        for (const { xid } of unseen) xids.add(xid);
      }
      truncated ||= truncations.since(base).length > 0;
    }
    const unseen = [...xids].sort((a, b) => (a < b ? -1 : 1));
    return { changed, truncated, base: isBlurred ? undefined : without(this.#header.snapshot, unseen) };
  }

  /** Whether mutations, of a client group or of any, may have been applied since a base that the window reaches. */
  hasMoved(base: Snapshot, clientGroupID?: string): boolean {
    if (covers(base, this.#header.snapshot)) return false;
    if (this.#movesBlurredBefore && !covers(base, this.#movesBlurredBefore)) return true;
    const moves = clientGroupID === undefined ? this.#moves : this.#movesOf.get(clientGroupID);
    return (moves?.since(base).length ?? 0) > 0;
  }

  /**
   * What must be seen, besides all that the base has seen, to see all mutations of a client group: up to a snapshot,
   * since which all are known, and these transactions. Without a base, the window may begin where it likes.
   */
  movesOf(clientGroupID: string, base: Snapshot | undefined): { since: Snapshot | undefined; xids: readonly bigint[] } {
    const blurred = this.#movesBlurredBefore;
    const isKnown = base && this.reaches(base) && (!blurred || covers(base, blurred));
    const start = blurred && !covers(this.#from, blurred) ? blurred : this.#from;
    const since = isKnown ? undefined : start;
    const unseen = this.#movesOf.get(clientGroupID)?.since(since ?? base!) ?? [];
    return { since, xids: unseen.map(({ xid }) => xid) };
  }

  #add(to: Transactions, before: Snapshot, xid: bigint, rows: number): void {
    if (hasSeen(before, xid)) return;
    to.add(xid, rows);
    this.#size++;
  }

  #forget(): void {
    const last = this.#marks.at(-1);
    const share = Math.max(1, this.#most >> 3);
    if (this.#size - (last?.size ?? 0) >= share)
      this.#marks.push({ snapshot: this.#header.snapshot, size: this.#size });
    while (this.#size > this.#most) {
      const mark = this.#marks.shift();
      if (!mark) break;
      this.#from = mark.snapshot;
      this.#drop(mark.snapshot.xmin);
    }
  }

  #drop(below: bigint): void {
    for (const { changes, truncations } of this.#tables.values()) {
      changes.forgetBelow(below);
      truncations.forgetBelow(below);
    }
    this.#moves.forgetBelow(below);
    for (const [group, moves] of this.#movesOf) {
      moves.forgetBelow(below);
      if (moves.size === 0) this.#movesOf.delete(group);
    }
    const before = this.#size;
    this.#size = this.#count();
    for (const [i, mark] of this.#marks.entries()) {
      this.#marks[i] = { ...mark, size: Math.max(0, mark.size - (before - this.#size)) };
    }
  }

  #count(): number {
    let size = this.#moves.size;
    for (const { changes, truncations } of this.#tables.values()) size += changes.size + truncations.size;
    for (const moves of this.#movesOf.values()) size += moves.size;
    return size;
  }
}
