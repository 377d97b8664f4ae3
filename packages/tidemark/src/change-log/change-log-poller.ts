import type { Database } from '../db/database.js';
import { covers } from '../protocol/snapshot.js';
import type { SchemaState } from '../schema/schema-state.js';
import { disconnectsID } from '../store/disconnects.js';
import { type DatabaseState, readObservation } from '../store/polls/observation.js';
import { pollIfChanged } from '../store/polls/poll.js';
import { ChangeLogCache } from './change-log-cache.js';
import { Coalescer } from './coalesce.js';
import { isContinuedBy, isSameServer } from './continuation.js';

const maxWaitMs = 100;

/** Provides the schema state, which is at most a second old. */
export interface SchemaProvider {
  present(): Promise<Pick<SchemaState, 'cluster' | 'tableIDs'>>;
  /** Called when nothing has been committed between two times of `performance.now`. */
  remained(since: number, until: number): void;
}

/**
 * Keeps a change-log cache up to date with polls, each shared by all requests that wait for one. The cache only saves
 * time, so the poller can start with an empty one at any time.
 */
export class ChangeLogPoller {
  readonly #db: Database;
  readonly #schemaProvider: SchemaProvider;
  readonly #maxTransactions: number;
  readonly #polls = new Coalescer((requests: readonly undefined[]) => this.#poll(requests), maxWaitMs);
  #cache: ChangeLogCache | undefined;
  #cluster: string | undefined;
  /** The time of `performance.now` at which the last poll that found changes ended. */
  #lastChangeAt = 0;

  /** @param maxTransactions the maximum number of transactions in the cache */
  constructor(db: Database, schemaProvider: SchemaProvider, maxTransactions: number) {
    this.#db = db;
    this.#schemaProvider = schemaProvider;
    this.#maxTransactions = maxTransactions;
  }

  /** Returns the cache after a poll that began after this call. */
  poll(): Promise<ChangeLogCache> {
    return this.#polls.ask('', undefined);
  }

  /** The cache as the last poll left it. */
  get cache(): ChangeLogCache | undefined {
    return this.#cache;
  }

  /** Returns the cache if a state, which another host may have observed, is of the server whose log the cache has. */
  cacheOf(state: DatabaseState): ChangeLogCache | undefined {
    return this.#cache && isSameServer(this.#cache.state, state) ? this.#cache : undefined;
  }

  async #poll(requests: readonly undefined[]): Promise<ChangeLogCache[]> {
    const cache = await this.#pollOnce();
    return requests.map(() => cache);
  }

  async #pollOnce(): Promise<ChangeLogCache> {
    const { tableIDs, cluster } = await this.#schemaProvider.present();
    const tables = [...tableIDs, disconnectsID];
    const previous = this.#cluster === cluster && this.#cache?.lists(tables) ? this.#cache : undefined;
    const previousState = previous?.state;
    const input = {
      base: previousState?.snapshot,
      tables,
      isListed: previousState !== undefined,
      heartbeat: previousState?.heartbeat,
    };
    const lastChangeAt = this.#lastChangeAt;
    const begunAt = performance.now();
    const [row] = await this.#db.query<{ line: string }>(pollIfChanged(input, previousState));
    if (!row) {
      this.#schemaProvider.remained(lastChangeAt, begunAt);
      return previous!;
    }
    this.#lastChangeAt = performance.now();
    const observation = readObservation(row.line);
    const { state } = observation;
    if (previous && previous === this.#cache) {
      if (isContinuedBy(previous.state, state)) {
        previous.extend(observation);
        return previous;
      }
      // A poll that began later has ended before this one.
      if (previous.state !== previousState && covers(previous.state.visibleSnapshot, state.snapshot)) return previous;
    }
    this.#cache = new ChangeLogCache(state, tables, this.#maxTransactions);
    this.#cluster = cluster;
    return this.#cache;
  }
}
