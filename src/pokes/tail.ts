import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import type { CurrentInstallation } from '../installation/current-installation.js';
import { noNotices, noticeChannel } from '../installation/notify.js';
import { describeError, type Logger } from '../log.js';
import type { Listening } from '../protocol/poke.js';
import type { ViewPart } from '../view/client-views.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { Looks } from '../window/looks.js';
import { Audiences, type Listener, type Outlook } from './audiences.js';
import { type Base, type LookParts, look } from './look.js';
import { LookTimes } from './look-times.js';
import { Outlooks } from './outlooks.js';
import { Postponed } from './postponed.js';

export interface TailOptions<Context extends UserContext> {
  readonly db: Database;
  readonly installation: CurrentInstallation<Context>;
  readonly looks: Looks;
  readonly log: Logger;
  /** Returns the milliseconds between two looks at the change log while there is nothing new. */
  readonly intervalMs: () => number;
  /** Also look whenever the database notifies. */
  readonly notify: boolean;
  /** Called with the users who have been disconnected. */
  readonly onDisconnect: (userIDs: ReadonlySet<string>) => void;
  /** Called for each poke. */
  readonly onPoke?: (() => void) | undefined;
  /** Called when listeners have been poked about what a nudge was for, with the milliseconds since then. */
  readonly onTold?: ((ms: number) => void) | undefined;
}

export interface TailState {
  readonly listeners: number;
  /** Milliseconds since the change log was last read; null while it need not be read. */
  readonly lagMs: number | null;
}

/**
 * Pokes the listeners whose client view has changed, whoever made the change. Reads the change log only while there are
 * listeners. What is missed because the database cannot be reached is seen at the next look: each look begins where the
 * last successful one ended.
 */
export class Tail<Context extends UserContext> {
  readonly #options: TailOptions<Context>;
  readonly #audiences: Audiences;
  readonly #outlooks: Outlooks;
  readonly #parts: LookParts;
  readonly #times: LookTimes;
  #base: Base | undefined;
  #looking: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  /** When the last successful look began. */
  #lookedAt = 0;
  /** When the first nudge since then came. */
  #nudgedAt: number | undefined;

  constructor(options: TailOptions<Context>) {
    const { db, installation, looks, intervalMs, onDisconnect, onPoke } = options;
    this.#audiences = new Audiences(onPoke);
    this.#options = options;
    this.#times = new LookTimes(intervalMs);
    this.#outlooks = new Outlooks(this.#audiences, () => installation.present());
    const parts = { db, looks, audiences: this.#audiences, onDisconnect, onFailure: this.#warn.bind(this) };
    this.#parts = { ...parts, postponed: new Postponed(parts) };
  }

  /**
   * Calls `poke` from now on whenever this user's client view, or the mutation IDs of the group, or of any group of the
   * user's, may have changed.
   * @param part if given, whenever this part of the client view may have changed
   * @returns a function that ends this
   * @throws SetupError, or the database's error, if listeners could not be told anything now.
   */
  async listen(
    ctx: Context,
    { clientGroupID, ...asked }: Listening,
    poke: () => void,
    part?: ViewPart,
  ): Promise<() => void> {
    const lookUp = async (): Promise<Outlook> => {
      const { installation, views } = await this.#options.installation.bind({ ctx, ...asked }, part);
      return { views, tables: installation.tables, shape: installation.shape };
    };
    // This is read first, so that a change of shape that comes in between is noticed at the next reading.
    const { shape: foundAt } = await this.#options.installation.present();
    const listener: Listener = { clientGroupID, userID: ctx.userID, outlook: await lookUp(), foundAt, lookUp, poke };
    this.#audiences.add(listener);
    this.#outlooks.add(listener);
    try {
      // A look that is under way does not know this listener's tables. What it misses, the listener's first pull will
      // see.
      if (this.#base) await this.#looking?.catch(() => {});
      else await this.#look();
    } catch (error) {
      this.#audiences.remove(listener);
      throw error;
    }
    return () => this.#audiences.remove(listener);
  }

  /**
   * Something has been committed: look at once.
   * @param committedAt when it was, by `performance.now()`
   */
  nudge(committedAt: number = performance.now()): void {
    if (this.#audiences.size === 0) return;
    this.#nudgedAt = Math.min(this.#nudgedAt ?? committedAt, committedAt);
    this.#times.nudge();
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

  /** Schedules the next look, or stops if there are no listeners any more. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#audiences.size === 0) {
      this.#base = undefined;
      this.#parts.postponed.clear();
      this.#unlisten?.();
      this.#unlisten = undefined;
      return;
    }
    const { db, notify } = this.#options;
    if (notify) {
      this.#unlisten ??= db.listen(
        noticeChannel,
        () => this.nudge(),
        () => this.#options.log.warn({}, noNotices),
      );
    }
    const waitMs = Math.max(0, this.#times.due() - performance.now());
    // Failures have been logged already.
    this.#timer = setTimeout(() => this.#look().catch(() => {}), waitMs);
  }

  async #lookOnce(): Promise<void> {
    const started = performance.now();
    this.#times.begin(started);
    this.#refresh();
    try {
      const { base, hasNews } = await look(this.#base, this.#parts);
      this.#base = base;
      this.#lookedAt = started;
      if (this.#nudgedAt !== undefined && this.#nudgedAt <= started) {
        if (hasNews) this.#options.onTold?.(performance.now() - this.#nudgedAt);
        this.#nudgedAt = undefined;
      }
      this.#times.succeed(performance.now(), hasNews);
    } catch (error) {
      if (this.#times.fail()) {
        this.#options.log.warn({ error: describeError(error) }, 'The change log could not be read; pokes are delayed');
      }
      throw error;
    }
  }

  /** Runs alongside the look: reading the catalogs must not delay reading the change log. */
  #refresh(): void {
    this.#refreshing ??= this.#outlooks
      .refresh()
      // Pulls report what is wrong with the installation.
      .then(
        (concerned) => this.#audiences.poke(concerned),
        () => {},
      )
      .finally(() => {
        this.#refreshing = undefined;
      });
  }

  #warn(view: CompiledView, error: unknown): void {
    this.#options.log.warn(
      { view: view.name, error: describeError(error) },
      'Cannot tell which clients a change affects; all clients that see the view are poked',
    );
  }
}
