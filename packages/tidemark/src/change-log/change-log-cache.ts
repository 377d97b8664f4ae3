/** The newest part of the change log, in memory: which transactions wrote to which tables and client groups. */
import { BoundedMap } from '../bounded-map.js';
import { covers, hasSeen, type Snapshot, without } from '../protocol/snapshot.js';
import type { GroupRecord } from '../store/polls/group-state.js';
import { type DatabaseState, maxMutations, maxRows, type Observation } from '../store/polls/observation.js';
import { Transactions } from './transactions.js';

/** The changes of some tables that were logged since a base. */
export interface LoggedSince {
  /** The tables that have changed: `[table, number of log rows]`. */
  readonly changed: DatabaseState['changeCounts'];
  readonly truncated: boolean;
  /**
   * A snapshot that has seen the same changes of these tables, the same one for all bases that have; undefined if the
   * cache cannot determine which transactions made the changes.
   */
  readonly base: Snapshot | undefined;
}

class TableLog {
  readonly changes = new Transactions();
  readonly truncations = new Transactions();
  /** So much was logged before this snapshot that the cache does not have all of the transactions. */
  partialBefore: Snapshot | undefined;
}

/** The maximum numbers of client groups, of heartbeats, and of results in memory. */
const maxGroups = 20_000;
const maxHeartbeats = 1_000;
const maxResults = 1_000;

/**
 * What a server has learned about one history of one database. Each observation extends it, and it forgets its oldest
 * part. It states only what holds at the newest observation's snapshot and later: that a base has not seen a
 * transaction.
 */
export class ChangeLogCache {
  readonly #tables: ReadonlyMap<number, TableLog>;
  readonly #maxTransactions: number;
  readonly #heartbeats = new BoundedMap<string, true>(maxHeartbeats);
  readonly #groups = new BoundedMap<string, GroupRecord>(maxGroups);
  /** The results of `since` since the newest observation. */
  #results = new BoundedMap<string, LoggedSince>(maxResults);
  readonly #mutations = new Transactions();
  readonly #mutationsByGroup = new Map<string, Transactions>();
  #mutationsPartialBefore: Snapshot | undefined;
  /** The cache has all that this snapshot has not seen. */
  #from: Snapshot;
  #state: DatabaseState;
  #size = 0;
  /** Snapshots after `#from`, which divide the entries into parts, each with the number of entries before it. */
  readonly #marks: { readonly snapshot: Snapshot; readonly size: number }[] = [];

  /**
   * @param state the state in the first observation
   * @param tables the tables, by their IDs in the change log, whose changes the observations list
   * @param maxTransactions the maximum number of transactions of tables and client groups
   */
  constructor(state: DatabaseState, tables: readonly number[], maxTransactions: number) {
    this.#tables = new Map(tables.map((table) => [table, new TableLog()]));
    this.#maxTransactions = maxTransactions;
    this.#state = state;
    this.#from = state.snapshot;
    if (state.heartbeat !== null) this.#heartbeats.set(state.heartbeat, true);
  }

  /** The state in the newest observation. */
  get state(): DatabaseState {
    return this.#state;
  }

  /** True if the observations list the changes of all these tables. */
  lists(tables: readonly number[]): boolean {
    return tables.every((table) => this.#tables.has(table));
  }

  /** Adds an observation that continues the cache: it has everything that one of its snapshots had not seen. */
  extend({ state, changes, truncations, mutations }: Observation): void {
    const before = this.#state.snapshot;
    for (const [table, rows, xids] of changes) {
      const log = this.#tables.get(table);
      if (!log) continue;
      if (rows >= maxRows || !xids) log.partialBefore = state.snapshot;
      for (const [xid, count] of xids ?? []) this.#add(log.changes, before, BigInt(xid), count);
    }
    for (const [table, xid] of truncations) {
      const log = this.#tables.get(table);
      if (log) this.#add(log.truncations, before, BigInt(xid), 1);
    }
    if (mutations.length >= maxMutations) this.#mutationsPartialBefore = state.snapshot;
    for (const [group, , xid] of mutations) {
      const transactions = this.#mutationsByGroup.get(group) ?? new Transactions();
      this.#mutationsByGroup.set(group, transactions);
      this.#add(transactions, before, BigInt(xid), 1);
      this.#add(this.#mutations, before, BigInt(xid), 1);
    }
    if (state.heartbeat !== null) this.#heartbeats.set(state.heartbeat, true);
    this.#state = state;
    this.#results = new BoundedMap(maxResults);
    this.#forget();
  }

  /** Adds records that a statement has read, and the heartbeat that it has found. */
  learn(groups: ReadonlyMap<string, GroupRecord>, heartbeat?: string | null): void {
    for (const [id, record] of groups) this.#groups.set(id, record);
    if (heartbeat) this.#heartbeats.set(heartbeat, true);
  }

  /**
   * Returns a client group's record, perhaps an old one. Once a group has an owner, that never changes, and clients are
   * only added.
   */
  group(id: string): GroupRecord | undefined {
    return this.#groups.get(id);
  }

  knowsHeartbeat(heartbeat: string): boolean {
    return this.#heartbeats.get(heartbeat) === true;
  }

  /** True if the cache has everything that the base has not seen and the newest observation's snapshot has. */
  reaches(base: Snapshot): boolean {
    return covers(base, this.#from);
  }

  /** Returns what has been logged since a base that the cache reaches. */
  since(base: Snapshot, tables: readonly number[]): LoggedSince {
    // A base can be newer, because `markUnchanged` moves a cookie's base to the snapshot of any statement.
    if (covers(base, this.#state.snapshot)) return { changed: [], truncated: false, base };
    const key = `${tables.join()} ${base.text}`;
    const known = this.#results.get(key);
    if (known) return known;
    const result = this.#find(base, tables);
    this.#results.set(key, result);
    return result;
  }

  #find(base: Snapshot, tables: readonly number[]): LoggedSince {
    const changed: (readonly [table: number, rows: number])[] = [];
    const xids = new Set<bigint>();
    let truncated = false;
    let isPartial = false;
    for (const table of tables) {
      const { changes, truncations, partialBefore } = this.#tables.get(table)!;
      if (partialBefore && !covers(base, partialBefore)) {
        isPartial = true;
        changed.push([table, maxRows]);
      } else {
        const unseen = changes.since(base);
        if (unseen.length === 0) continue;
        changed.push([table, unseen.reduce((sum, { rows }) => sum + rows, 0)]);
        for (const { xid } of unseen) xids.add(xid);
      }
      truncated ||= truncations.since(base).length > 0;
    }
    const unseen = [...xids].sort((a, b) => (a < b ? -1 : 1));
    return { changed, truncated, base: isPartial ? undefined : without(this.#state.snapshot, unseen) };
  }

  /** True if mutations, of a client group or of any, may have been applied since a base that the cache reaches. */
  hasMutations(base: Snapshot, clientGroupID?: string): boolean {
    if (covers(base, this.#state.snapshot)) return false;
    if (this.#mutationsPartialBefore && !covers(base, this.#mutationsPartialBefore)) return true;
    const transactions = clientGroupID === undefined ? this.#mutations : this.#mutationsByGroup.get(clientGroupID);
    return (transactions?.since(base).length ?? 0) > 0;
  }

  /**
   * Returns what a snapshot must include, besides all that the base has seen, to include all mutations of a client
   * group: everything up to `since`, which is undefined if the cache has all mutations since the base, and `xids`.
   */
  mutationsOf(
    clientGroupID: string,
    base: Snapshot | undefined,
  ): { since: Snapshot | undefined; xids: readonly bigint[] } {
    const partialBefore = this.#mutationsPartialBefore;
    const isKnown = base && this.reaches(base) && (!partialBefore || covers(base, partialBefore));
    const start = partialBefore && !covers(this.#from, partialBefore) ? partialBefore : this.#from;
    const since = isKnown ? undefined : start;
    const unseen = this.#mutationsByGroup.get(clientGroupID)?.since(since ?? base!) ?? [];
    return { since, xids: unseen.map(({ xid }) => xid) };
  }

  #add(to: Transactions, before: Snapshot, xid: bigint, rows: number): void {
    if (!hasSeen(before, xid) && to.add(xid, rows)) this.#size++;
  }

  #forget(): void {
    const last = this.#marks.at(-1);
    const share = Math.max(1, this.#maxTransactions >> 3);
    if (this.#size - (last?.size ?? 0) >= share) this.#marks.push({ snapshot: this.#state.snapshot, size: this.#size });
    while (this.#size > this.#maxTransactions) {
      const mark = this.#marks.shift();
      if (!mark) break;
      this.#from = mark.snapshot;
      const forgotten = this.#forgetBelow(mark.snapshot.xmin);
      this.#size -= forgotten;
      for (const [i, { snapshot, size }] of this.#marks.entries()) {
        this.#marks[i] = { snapshot, size: Math.max(0, size - forgotten) };
      }
    }
  }

  /** @returns the number of entries that it forgets */
  #forgetBelow(xid: bigint): number {
    let forgotten = this.#mutations.forgetBelow(xid);
    for (const { changes, truncations } of this.#tables.values()) {
      forgotten += changes.forgetBelow(xid) + truncations.forgetBelow(xid);
    }
    for (const [group, transactions] of this.#mutationsByGroup) {
      forgotten += transactions.forgetBelow(xid);
      if (transactions.size === 0) this.#mutationsByGroup.delete(group);
    }
    return forgotten;
  }
}
