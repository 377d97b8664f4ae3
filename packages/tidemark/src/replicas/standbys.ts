import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { repeat } from '../repeat.js';
import { type DatabaseWalPosition, readWalPosition } from '../store/wal-position.js';
import { assign } from './assignment.js';
import { LagTracker } from './lag.js';
import { checkHealth, type ReplicaHealth } from './replica-health.js';
import type { Standby } from './standby.js';

/** The interval between health checks of the standbys, and the timeout of the query, in milliseconds. */
const intervalMs = 1_000;
const timeoutMs = 2_000;
/** The timeout including the wait for a connection. The application's own pool may wait forever. */
const maxWaitMs = 5_000;

const messages: Readonly<Record<ReplicaHealth, string>> = {
  healthy: 'A standby is read from',
  unreachable: 'A standby does not answer; it is not read from until it does',
  lagging: 'A standby lags too much; it is not read from until it has caught up',
  primary: 'A database to read from is not a standby; it is not read from until it is one',
  foreign: 'A standby follows another primary; it is not read from',
  unknown: 'A standby does not say what it has replayed; it is not read from',
};

/** Determines which standbys pulls can read from. */
export class Standbys<Context extends UserContext> {
  readonly all: readonly Standby<Context>[];
  readonly #primary: Database;
  readonly #log: Logger;
  readonly #onChange: () => void;
  readonly #lagTracker = new LagTracker();
  readonly #unanswered = new Set<Database>();
  #active: readonly Standby<Context>[] = [];
  #cluster: string | undefined;
  #checking: Promise<void> | undefined;
  #end: () => void = () => {};

  /** @param onChange called when the set of standbys in use has changed */
  constructor(all: readonly Standby<Context>[], primary: Database, log: Logger, onChange: () => void) {
    this.all = all;
    this.#primary = primary;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** The standbys that pulls read from. */
  get active(): readonly Standby<Context>[] {
    return this.#active;
  }

  /** Returns the standby that serves a key now; undefined if none does. */
  of(key: string): Standby<Context> | undefined {
    return assign(key, this.#active);
  }

  /**
   * Starts the health checks.
   * @throws SetupError if one of them follows another primary
   */
  async start(): Promise<void> {
    if (this.all.length === 0) return;
    await this.check();
    const foreign = this.all.find(({ lastCheck }) => lastCheck.health === 'foreign');
    if (foreign) {
      throw new SetupError(
        `${foreign.name} is not a standby of the database: it belongs to another cluster. Pass the primary as \`database\` (DATABASE_URL), and its standbys as \`readDatabase\` (DATABASE_READ_URL).`,
      );
    }
    this.#end = repeat(
      () => this.check(),
      intervalMs,
      () => {},
    );
  }

  /** Checks the health of all standbys now. Called between intervals if a standby seems to fail. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  close(): void {
    this.#end();
  }

  async #check(): Promise<void> {
    const at = performance.now();
    const answers = this.all.map(({ replica }) => this.#ask(replica.db));
    const primary = await this.#ask(this.#primary);
    if (primary) this.#cluster = primary.systemIdentifier;
    if (primary?.position && !primary.isStandby) this.#lagTracker.add(at, primary.position);
    const positions = await Promise.all(answers);
    for (const [i, standby] of this.all.entries()) this.#take(standby, positions[i]);
    const active = this.all.filter(({ isUsed }) => isUsed);
    const isSame = active.length === this.#active.length && active.every((one) => this.#active.includes(one));
    this.#active = active;
    if (!isSame) this.#onChange();
  }

  /**
   * Returns undefined if there is no answer in time. Until that answer arrives, sends the database no other query, so
   * that queries do not pile up.
   */
  async #ask(db: Database): Promise<DatabaseWalPosition | undefined> {
    if (this.#unanswered.has(db)) return undefined;
    this.#unanswered.add(db);
    const answer = readWalPosition(db, timeoutMs)
      .catch(() => undefined)
      .finally(() => this.#unanswered.delete(db));
    return (await settlesWithin(maxWaitMs, answer)) ? answer : undefined;
  }

  #take(standby: Standby<Context>, position: DatabaseWalPosition | undefined): void {
    const { health: previous } = standby.lastCheck;
    const lagOf = (replayed: bigint) => this.#lagTracker.lagMs(replayed, performance.now());
    // Until the primary has answered once, trust the standby's own system identifier.
    standby.lastCheck = checkHealth(position, previous, this.#cluster ?? position?.systemIdentifier ?? '', lagOf);
    const { health, lagMs } = standby.lastCheck;
    if (health === 'unreachable') standby.giveUp();
    if (health === previous) return;
    const level = health === 'healthy' || health === 'primary' ? 'info' : 'warn';
    this.#log[level]({ standby: standby.name, lagMs }, messages[health]);
  }
}
