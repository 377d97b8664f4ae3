/**
 * A hot standby of a case's database, behind a long transaction on the primary. It shows the data of the last `replay`.
 */
import type { Client } from 'pg';
import type { Replication, ReplicationOptions, Standby } from '../../support/replication.js';
import { CaseDatabase } from './database.js';
import { Judge } from './judge.js';
import { type Served, type ServingOptions, serve } from './serving.js';
import type { Tally } from './tally.js';
import { Truth } from './truth.js';
import type { FuzzView } from './view.js';

/** The options of a cluster with a follower. */
export const oneStandby: ReplicationOptions = { delays: [0], waitsFor: '' };

/** A server, and the data that its database shows. */
export interface JudgedServer extends Served {
  readonly truth: Truth;
  readonly judge: Judge;
}

/** The number of replays before the long transaction ends and another one begins. */
const replays = 4;

export class Follower {
  readonly #replication: Replication;
  readonly #standby: Standby;
  readonly #leader: CaseDatabase;
  readonly #database: CaseDatabase;
  #long: Client | undefined;
  /** Grows whenever readers may see other data. */
  version = 0;

  /** @param leader The case's database. Closing it closes this one too. */
  constructor(replication: Replication, leader: CaseDatabase) {
    this.#replication = replication;
    this.#standby = replication.standbys[0]!;
    this.#leader = leader;
    const address = new URL(this.#standby.url);
    address.pathname = new URL(leader.url).pathname;
    this.#database = new CaseDatabase(address.href);
    leader.onClose(() => this.#close());
  }

  /** Replays everything that has been committed so far, and then pauses again. */
  async replay(): Promise<void> {
    if (this.version % replays === 0) await this.#beginLong();
    await this.#standby.resume();
    await this.#replication.caughtUp();
    await this.#standby.pause();
    this.version++;
  }

  /** Starts a server of these views on the standby. */
  async serve(options: ServingOptions, views: readonly FuzzView[], tally: Tally): Promise<JudgedServer> {
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
