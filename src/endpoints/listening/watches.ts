/** Those who wait for changes of what they read, within a request. */
import type { UserContext } from '../../context.js';
import type { Caller } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import type { ViewPart } from '../../view/client-views.js';
import { Listeners } from './listeners.js';

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
  readonly #listeners: Listeners;

  /** @param budget of those who wait, and of open streams */
  constructor(listen: ListenTo<Context>, budget: Budget) {
    this.#listen = listen;
    this.#listeners = new Listeners(budget);
  }

  /**
   * Begins to watch. The watch must be ended.
   * @throws what `Listeners.enter` and `listen` throw
   */
  async open({ context, signal }: Caller<Context>, watched: Watched): Promise<Watch> {
    const listener = this.#listeners.enter(context.userID, () => watch.end());
    const watch = new OpenWatch(context.expiresAt, signal?.(), () => listener.end());
    await listener.join(this.#listen(context, watched, () => watch.poke()));
    return watch;
  }

  /** Ends all watches, and refuses new ones. */
  close(): void {
    this.#listeners.close();
  }
}

class OpenWatch implements Watch {
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: () => void;
  #isPoked = false;
  #hasEnded = false;
  /** Ends the waiting that is under way. */
  #wake: (() => void) | undefined;

  constructor(expiresAt: Date | undefined, signal: AbortSignal | undefined, onEnd: () => void) {
    const end = () => this.end();
    const age = expiresAt && setTimeout(end, Math.min(expiresAt.getTime() - Date.now(), longestTimer));
    signal?.addEventListener('abort', end);
    this.#signal = signal;
    this.#onEnd = () => {
      clearTimeout(age);
      signal?.removeEventListener('abort', end);
      onEnd();
    };
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#signal?.aborted === true;
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
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd();
    this.#wake?.();
  }
}

/** The longest time that a timer can wait, in milliseconds. */
const longestTimer = 2 ** 31 - 1;
