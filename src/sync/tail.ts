import type { Database } from '../db/database.js';
import { noticeChannel } from '../db/notify.js';
import { describeError, type Logger } from '../log.js';
import type { PokeRequest } from '../protocol/poke.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { UserContext } from '../registry/mutators.js';
import { findAffected } from '../store/affected.js';
import { changesOf, type TableChanges } from '../store/patch-sql.js';
import { readTail, type TailBatch } from '../store/tail.js';
import { Audiences, type Listener, type Outlook } from './audiences.js';
import type { CurrentInstallation } from './current-installation.js';
import { type PokePlan, planPokes } from './plan-pokes.js';

export interface TailOptions<Context> {
  readonly database: Database;
  readonly installation: CurrentInstallation<Context>;
  readonly log: Logger;
  /** Milliseconds between two looks at the change log. */
  readonly intervalMs: number;
  /** Also look whenever the database notifies. */
  readonly notify: boolean;
}

export interface TailState {
  readonly listeners: number;
  /** Milliseconds since the change log was last read; null while it need not be. */
  readonly lagMs: number | null;
}

const firstRetryMs = 50;
const longestRetryMs = 2_000;

/**
 * Pokes those whose client view has changed, whoever made the change. Looks at the change log only while somebody listens.
 * What was not seen because the database could not be asked is seen at the next look: each begins where the last one that
 * succeeded ended.
 */
export class Tail<Context extends UserContext> {
  readonly #options: TailOptions<Context>;
  readonly #audiences = new Audiences();
  /** Up to where changes have been told. */
  #base: Snapshot | undefined;
  /** Of all tables, when the listeners' outlooks were last brought up to date. */
  #shape: string | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  #isNudged = false;
  #failures = 0;
  /** When the last look began, and the last one that succeeded. */
  #triedAt = 0;
  #lookedAt = 0;
  #restUntil = 0;

  constructor(options: TailOptions<Context>) {
    this.#options = options;
  }

  /**
   * Has `poke` called from now on whenever the client view of this user, or the group's mutation IDs, may have changed.
   * @returns what ends it
   * @throws SetupError, or what the database says, when nobody could be told anything now.
   */
  async listen(
    ctx: Context,
    { clientGroupID, profileID, schemaVersion }: PokeRequest,
    poke: () => void,
  ): Promise<() => void> {
    const look = async (): Promise<Outlook> => {
      const { installation, views } = await this.#options.installation.bind({ ctx, profileID, schemaVersion });
      return { views, tables: installation.tables, shape: installation.shape };
    };
    const shape = await this.#options.installation.shape();
    const listener: Listener = { clientGroupID, userID: ctx.userID, outlook: await look(), look, poke };
    this.#audiences.add(listener);
    // Its outlook may be of another shape than those of others: then all are looked at anew.
    this.#shape = this.#audiences.size === 1 || shape === this.#shape ? shape : undefined;
    try {
      // A look under way does not know of this listener's tables: what it passes over, the listener's first pull will see.
      if (this.#base) await this.#looking?.catch(() => {});
      else await this.#look();
    } catch (error) {
      this.#audiences.remove(listener);
      throw error;
    }
    return () => this.#audiences.remove(listener);
  }

  /** Something has been committed here: look at once. */
  nudge(): void {
    if (this.#audiences.size === 0) return;
    this.#isNudged = true;
    if (!this.#looking) this.#wait();
  }

  state(): TailState {
    const { size } = this.#audiences;
    const isOn = size > 0 && this.#base !== undefined;
    return { listeners: size, lagMs: isOn ? Math.round(performance.now() - this.#lookedAt) : null };
  }

  close(): void {
    for (const listener of this.#audiences.listeners()) this.#audiences.remove(listener);
    if (!this.#looking) this.#wait();
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      this.#wait();
    });
    return this.#looking;
  }

  /** Waits for the next look, or stops where nobody listens any more. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#audiences.size === 0) {
      this.#base = undefined;
      this.#unlisten?.();
      this.#unlisten = undefined;
      return;
    }
    const { database, intervalMs, notify } = this.#options;
    if (notify) this.#unlisten ??= database.listen(noticeChannel, () => this.nudge());
    const retryMs = Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs);
    const pauseMs = this.#failures > 0 ? retryMs : intervalMs;
    const isAtOnce = this.#isNudged && this.#failures === 0;
    const due = Math.max(this.#restUntil, isAtOnce ? 0 : this.#triedAt + pauseMs);
    // A failure has been logged.
    this.#timer = setTimeout(() => this.#look().catch(() => {}), Math.max(0, due - performance.now()));
  }

  async #lookOnce(): Promise<void> {
    const started = performance.now();
    this.#triedAt = started;
    this.#isNudged = false;
    try {
      const tables = this.#audiences.tables().map(({ id }) => id);
      const batch = await readTail(this.#options.database, this.#base, tables);
      const { snapshot: now } = batch;
      // Another history of the database answers, as after a failover.
      if (this.#base && now.xmax < this.#base.xmax) this.#poke(this.#audiences.listeners());
      else if (this.#base && (batch.changes.length > 0 || batch.mutations > 0)) await this.#tell(batch, this.#base);
      this.#base = now;
      this.#lookedAt = started;
      this.#failures = 0;
      // Looks that find much to do leave two thirds of the time to others.
      const ended = performance.now();
      this.#restUntil = batch.changes.length > 0 ? ended + 2 * (ended - started) : 0;
    } catch (error) {
      if (this.#failures++ === 0) {
        this.#options.log.warn({ error: describeError(error) }, 'The change log could not be read; pokes are late');
      }
      throw error;
    }
  }

  async #tell(batch: TailBatch, base: Snapshot): Promise<void> {
    if (batch.changes.length > 0) await this.#refresh();
    const tables = this.#audiences.tables();
    const ids = new Map(tables.map(({ oid, id }) => [oid, id]));
    const { poked, questions } = planPokes(this.#audiences.all(), this.#audiences.listeners(), batch, ids);
    this.#poke(poked);
    if (questions.length === 0) return;
    const changes = changesOf(tables, new Map(batch.changes.map(({ table, rows }) => [table, rows])));
    const concerned = await this.#ask(questions, changes, base);
    this.#poke([...concerned].filter((listener) => !poked.has(listener)));
  }

  /** The listeners that changes concern; all who were asked about, when that cannot be found out. */
  async #ask(
    questions: PokePlan['questions'],
    changes: readonly TableChanges[],
    base: Snapshot,
  ): Promise<Set<Listener>> {
    const seats = await findAffected(
      this.#options.database,
      questions.map(({ question }) => question),
      changes,
      base,
    ).then(
      (affected) => affected.map(({ question, seat }) => questions[question]!.seats[seat]!),
      (error: unknown) => {
        this.#options.log.warn({ error: describeError(error) }, 'Whom a change concerns is not known; all are poked');
        return questions.flatMap((question) => question.seats);
      },
    );
    return new Set(seats.flatMap(({ listeners }) => [...listeners]));
  }

  /** Brings what listeners see up to the tables' present shape, and pokes those for whom it has changed. */
  async #refresh(): Promise<void> {
    const shape = await this.#options.installation.shape();
    if (shape === this.#shape) return;
    this.#shape = shape;
    for (const listener of [...this.#audiences.listeners()]) {
      try {
        const outlook = await listener.look();
        if (outlook.shape !== listener.outlook.shape) this.#poke([listener]);
        this.#audiences.move(listener, outlook);
      } catch {
        // Their pulls say, and log, what is wrong.
        this.#poke([listener]);
      }
    }
  }

  #poke(listeners: Iterable<Listener>): void {
    for (const listener of listeners) listener.poke();
  }
}
