import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { repeat } from '../repeat.js';
import { type Position, readPosition } from '../store/positions.js';
import { assigned } from './assignment.js';
import { type Condition, find } from './condition.js';
import { Marks } from './lag.js';
import type { Standby } from './standby.js';

/** How often standbys are asked how far they are, and how long they have to answer, in milliseconds. */
const everyMs = 1_000;
const timeoutMs = 2_000;
/** How long they have in all, including what a connection to them takes. A pool of the application may wait forever. */
const patienceMs = 5_000;

const words: Readonly<Record<Condition, string>> = {
  used: 'A standby is read from',
  gone: 'A standby does not answer; it is not read from until it does',
  late: 'A standby lags too much; it is not read from until it has caught up',
  primary: 'A database to read from is not a standby; it is not read from until it is one',
  foreign: 'A standby follows another primary; it is not read from',
  silent: 'A standby does not say what it has replayed; it is not read from',
};

/** Knows which standbys can be read from. */
export class Standbys<Context extends UserContext> {
  readonly all: readonly Standby<Context>[];
  readonly #primary: Database;
  readonly #log: Logger;
  readonly #onChange: () => void;
  readonly #marks = new Marks();
  readonly #unanswered = new Set<Database>();
  #used: readonly Standby<Context>[] = [];
  #cluster: string | undefined;
  #checking: Promise<void> | undefined;
  #end: () => void = () => {};

  /** @param onChange called when other standbys are used than before */
  constructor(all: readonly Standby<Context>[], primary: Database, log: Logger, onChange: () => void) {
    this.all = all;
    this.#primary = primary;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Those that are read from. */
  get used(): readonly Standby<Context>[] {
    return this.#used;
  }

  /** The standby that serves a key now; undefined if none does. */
  of(key: string): Standby<Context> | undefined {
    return assigned(key, this.#used);
  }

  /**
   * Begins to watch the standbys.
   * @throws SetupError if one of them follows another primary
   */
  async start(): Promise<void> {
    if (this.all.length === 0) return;
    await this.check();
    const foreign = this.all.find(({ found }) => found.condition === 'foreign');
    if (foreign) {
      throw new SetupError(
        `${foreign.name} is not a standby of the database: it belongs to another cluster. Pass the primary as \`database\` (DATABASE_URL), and its standbys as \`readDatabase\` (DATABASE_READ_URL).`,
      );
    }
    this.#end = repeat(
      () => this.check(),
      everyMs,
      () => {},
    );
  }

  /** Asks each of them how far it is; now, if something suggests that one of them cannot be used. */
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
    const asked = this.all.map(({ source }) => this.#ask(source.db));
    const primary = await this.#ask(this.#primary);
    if (primary) this.#cluster = primary.systemIdentifier;
    if (primary?.position && !primary.isStandby) this.#marks.add(at, primary.position);
    const positions = await Promise.all(asked);
    for (const [i, standby] of this.all.entries()) this.#take(standby, positions[i]);
    const used = this.all.filter(({ isUsed }) => isUsed);
    const isSame = used.length === this.#used.length && used.every((one) => this.#used.includes(one));
    this.#used = used;
    if (!isSame) this.#onChange();
  }

  /**
   * Returns undefined if there is no answer in time. Until it comes, the database is not asked again: questions would pile up
   * in front of it.
   */
  async #ask(db: Database): Promise<Position | undefined> {
    if (this.#unanswered.has(db)) return undefined;
    this.#unanswered.add(db);
    const answer = readPosition(db, timeoutMs)
      .catch(() => undefined)
      .finally(() => this.#unanswered.delete(db));
    return (await settlesWithin(patienceMs, answer)) ? answer : undefined;
  }

  #take(standby: Standby<Context>, position: Position | undefined): void {
    const { condition: was } = standby.found;
    const lagOf = (replayed: bigint) => this.#marks.lagMs(replayed, performance.now());
    // Until the primary has answered once, it is the standby itself that says to which cluster it belongs.
    standby.found = find(position, was, this.#cluster ?? position?.systemIdentifier ?? '', lagOf);
    const { condition, lagMs } = standby.found;
    if (condition === 'gone') standby.giveUp();
    if (condition === was) return;
    const level = condition === 'used' || condition === 'primary' ? 'info' : 'warn';
    this.#log[level]({ standby: standby.name, lagMs }, words[condition]);
  }
}
