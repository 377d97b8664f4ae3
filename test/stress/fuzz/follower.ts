/**
 * A hot standby of a case's database, behind a long transaction of the primary's. It shows what it had replayed when it
 * was last told to.
 */
import type { Client } from 'pg';
import type { Replication, ReplicationOptions, Standby } from '../../support/replication.js';
import { CaseDatabase } from './database.js';
import { Judge } from './judge.js';
import { type Served, type ServingOptions, serve } from './serving.js';
import type { Tally } from './tally.js';
import { Truth } from './truth.js';
import type { FuzzView } from './view.js';

/** What a cluster with a follower is started with. */
export const oneStandby: ReplicationOptions = { delays: [0], waitsFor: '' };

/** A server, and what its database shows. */
export interface Place extends Served {
  readonly truth: Truth;
  readonly judge: Judge;
}

/** How often it replays before the long transaction ends, and another begins. */
const replays = 4;

export class Follower {
  readonly #replication: Replication;
  readonly #standby: Standby;
  readonly #leader: CaseDatabase;
  readonly #database: CaseDatabase;
  #long: Client | undefined;
  /** Grows with whatever a reader may see changed. */
  version = 0;

  /** @param leader the case's database, with which this one is closed */
  constructor(replication: Replication, leader: CaseDatabase) {
    this.#replication = replication;
    this.#standby = replication.standbys[0]!;
    this.#leader = leader;
    const address = new URL(this.#standby.url);
    address.pathname = new URL(leader.url).pathname;
    this.#database = new CaseDatabase(address.href);
    leader.onClose(() => this.#close());
  }

  /** From now on it shows all that has been committed by now, and nothing else. */
  async replay(): Promise<void> {
    if (this.version % replays === 0) await this.#beginLong();
    await this.#standby.resume();
    await this.#replication.caughtUp();
    await this.#standby.pause();
    this.version++;
  }

  /** A server of these views over the standby. */
  async serve(options: ServingOptions, views: readonly FuzzView[], tally: Tally): Promise<Place> {
    await this.replay();
    const database = this.#database;
    const serving = { ...options, database };
    const truth = new Truth(await database.connect(), this, tally);
    for (const view of views) await truth.admit(view);
    const judge = new Judge({ truth, database, serving, tally });
    return { ...(await serve(serving, views)), truth, judge };
  }

  async #beginLong(): Promise<void> {
    this.#long ??= await this.#leader.connect();
    await this.#long.query('rollback; begin; select pg_current_xact_id()');
  }

  async #close(): Promise<void> {
    await this.#database.close();
    await this.#standby.resume();
  }
}
