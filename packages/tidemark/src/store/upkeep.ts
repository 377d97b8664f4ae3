/** Background work of a server that keeps its records in the database from growing forever. */
import type { Database } from '../db/database.js';
import { describeError, type Logger } from '../log.js';
import { repeat } from '../repeat.js';
import type { AuditLog } from './audit-log.js';
import { pruneRefusals } from './refusals.js';
import { heldBackSeconds, prune } from './retention.js';
import { recordEmptyPartitions } from './row-formats/empty-partitions.js';
import { forgetGroups, type SeenGroups } from './seen-groups.js';

/** The options of `Upkeep`. */
export interface UpkeepOptions {
  readonly db: Database;
  readonly log: Logger;
  /** The client groups that pull and push on this server. */
  readonly seenGroups: SeenGroups;
  readonly auditLog: AuditLog;
  /** The retention of the change log, by age and by size. */
  readonly retentionSeconds: number;
  readonly retentionBytes: number;
  /** How long an inactive client group is kept, in seconds. */
  readonly clientRetentionSeconds: number;
}

/** The state of the upkeep. */
export interface UpkeepState {
  /** True if the last run failed. */
  readonly isFailing: boolean;
  /** How long a transaction had kept changes from being deleted, as of the last run. */
  readonly heldSeconds: number;
}

const intervalMs = 60_000;

/** A standby needs no upkeep, because it replays its primary's. */
const isStandby = 'select pg_is_in_recovery() as "isStandby"';

/** Deletes old changes, audit log entries and refusals, forgets old clients, and records empty partitions. */
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
   * Runs the upkeep once a minute.
   * @returns a function that stops it
   */
  start(): () => void {
    return repeat(
      () => this.run(),
      intervalMs,
      (error) => {
        this.#options.log.warn(
          { error: describeError(error) },
          'Could not delete old records; trying again in a minute',
        );
      },
    );
  }

  /**
   * Runs the upkeep now.
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
    const { db, seenGroups, auditLog, ...retention } = this.#options;
    const [row] = await db.query<{ isStandby: boolean }>({ text: isStandby });
    if (row!.isStandby) return;
    await prune(db, retention.retentionSeconds, retention.retentionBytes);
    await seenGroups.write(db);
    await forgetGroups(db, retention.clientRetentionSeconds);
    await auditLog.prune(db);
    await pruneRefusals(db);
    await recordEmptyPartitions(db);
  }
}
