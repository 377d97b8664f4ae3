/** Those who wait for changes of what they read, within a request. */
import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import type { Caller } from '../http/identify.js';
import type { Budget } from '../limits/budget.js';
import type { ViewPart } from '../view/client-views.js';

/** What is waited for. */
export interface Watched {
  readonly part: ViewPart;
  readonly profileID: string;
  readonly schemaVersion: string;
}

/** Calls `poke` whenever what is watched may have changed, until the returned function is called. */
export type ListenTo<Context extends UserContext> = (
  ctx: Context,
  watched: Watched,
  poke: () => void,
) => Promise<() => void>;

/** `over`: the caller has gone away, its authorization has expired, or the server is stopping. */
export type Awaited = 'changed' | 'late' | 'over';

/** One who waits. What has changed since it was opened is not missed. */
export interface Watch {
  /** Waits, for a limited time in milliseconds, until something may have changed since this was called last. */
  changed(ms: number): Promise<Awaited>;
  end(): void;
}

/** The open watches. */
export class Watches<Context extends UserContext> {
  readonly #listen: ListenTo<Context>;
  readonly #budget: Budget;
  readonly #open = new Set<Watch>();
  #isClosed = false;

  /** @param budget of those who wait, and of open streams */
  constructor(listen: ListenTo<Context>, budget: Budget) {
    this.#listen = listen;
    this.#budget = budget;
  }

  /**
   * Begins to watch. The watch must be ended.
   * @throws Problem `unavailable` if the server is stopping or full, or `too-many-requests` if the user watches too much;
   * and what `listen` throws.
   */
  async open({ context, signal }: Caller<Context>, watched: Watched): Promise<Watch> {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    const holding = this.#budget.open(context.userID);
    holding.take(1);
    const watch = new OpenWatch(context.expiresAt, signal?.(), () => {
      this.#open.delete(watch);
      holding.end();
    });
    this.#open.add(watch);
    try {
      watch.onEnd(await this.#listen(context, watched, () => watch.poke()));
    } catch (error) {
      watch.end();
      throw error;
    }
    return watch;
  }

  /** Ends all watches, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const watch of this.#open) watch.end();
  }
}

class OpenWatch implements Watch {
  readonly #onEnd: (() => void)[];
  #isPoked = false;
  #isOver = false;
  /** Ends the waiting that is under way. */
  #wake: (() => void) | undefined;

  constructor(expiresAt: Date | undefined, signal: AbortSignal | undefined, onEnd: () => void) {
    const end = () => this.end();
    const age = expiresAt && setTimeout(end, Math.min(expiresAt.getTime() - Date.now(), longestTimer));
    signal?.addEventListener('abort', end);
    this.#onEnd = [
      onEnd,
      () => {
        clearTimeout(age);
        signal?.removeEventListener('abort', end);
      },
    ];
    this.#isOver = signal?.aborted === true;
  }

  /** Sets what to call when the watch has ended; calls it at once if it already has. */
  onEnd(leave: () => void): void {
    if (this.#onEnd.length === 0) leave();
    else this.#onEnd.push(leave);
  }

  poke(): void {
    this.#isPoked = true;
    this.#wake?.();
  }

  async changed(ms: number): Promise<Awaited> {
    if (!this.#isPoked && !this.#isOver) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    if (this.#isOver) return 'over';
    if (!this.#isPoked) return 'late';
    this.#isPoked = false;
    return 'changed';
  }

  end(): void {
    this.#isOver = true;
    for (const leave of this.#onEnd.splice(0)) leave();
    this.#wake?.();
  }
}

/** The longest time that a timer can wait, in milliseconds. */
const longestTimer = 2 ** 31 - 1;
