/** What a server does in the background, so that the records in the database do not grow forever. */
import type { Database } from '../db/database.js';
import { describeError, type Logger } from '../log.js';
import { repeat } from '../repeat.js';
import type { Journal } from './journal.js';
import { recordEmptied } from './layouts/emptied.js';
import { pruneRefusals } from './refusals.js';
import { heldBackSeconds, prune } from './retention.js';
import { forgetGroups, type SeenGroups } from './seen-groups.js';

/** The options of `Upkeep`. */
export interface UpkeepOptions {
  readonly db: Database;
  readonly log: Logger;
  /** The client groups that pull and push on this server. */
  readonly seen: SeenGroups;
  readonly journal: Journal;
  /** How long, and how much of, the change log is kept. */
  readonly retentionSeconds: number;
  readonly retentionBytes: number;
  /** How long a client group is kept that is not heard of, in seconds. */
  readonly clientRetentionSeconds: number;
}

/** How the upkeep goes. */
export interface UpkeepState {
  /** Whether it failed the last time. */
  readonly isFailing: boolean;
  /** For how long a transaction had been open that keeps changes from being deleted, as of the last time. */
  readonly heldSeconds: number;
}

const everyMs = 60_000;

/** On a standby there is nothing to do: it follows its primary in this too. */
const isStandby = 'select pg_is_in_recovery() as "isStandby"';

/** Deletes old changes, entries of the journal and refusals, forgets old clients, and records empty partitions. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #state: UpkeepState = { isFailing: false, heldSeconds: 0 };

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  state(): UpkeepState {
    return this.#state;
  }

  /**
   * Does it once a minute.
   * @returns a function that ends this
   */
  start(): () => void {
    return repeat(
      () => this.run(),
      everyMs,
      (error) => {
        this.#options.log.warn(
          { error: describeError(error) },
          'Could not delete old records; trying again in a minute',
        );
      },
    );
  }

  /**
   * Does it now.
   * @throws the database's error
   */
  async run(): Promise<void> {
    try {
      await this.#work();
      this.#state = { isFailing: false, heldSeconds: await heldBackSeconds(this.#options.db) };
    } catch (error) {
      this.#state = { ...this.#state, isFailing: true };
      throw error;
    }
  }

  async #work(): Promise<void> {
    const { db, seen, journal, ...retention } = this.#options;
    const [row] = await db.query<{ isStandby: boolean }>({ text: isStandby });
    if (row!.isStandby) return;
    await prune(db, retention.retentionSeconds, retention.retentionBytes);
    await seen.write(db);
    await forgetGroups(db, retention.clientRetentionSeconds);
    await journal.prune(db);
    await pruneRefusals(db);
    await recordEmptied(db);
  }
}
