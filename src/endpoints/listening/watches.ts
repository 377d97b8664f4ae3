/** Those who wait for changes of what they read, within a request. */
import type { UserContext } from '../../context.js';
import type { Problem } from '../../errors.js';
import type { Identified } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import type { ViewPart } from '../../view/client-views.js';
import { Authorization, maxAgeMs } from './authorization.js';
import { Listeners } from './listeners.js';
import { longestTimerMs } from './stream-life.js';

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

/** `over`: the caller has gone away, its authorization has expired or is refused, or the server is stopping. */
export type Awaited = 'changed' | 'late' | 'over';

/** One who waits. What has changed since it was opened is not missed. */
export interface Watch<Context extends UserContext> {
  /** The caller's context, as `authenticate` returned it last. */
  readonly context: Context;
  /** Why the caller may not have what is watched any more; undefined if it may. */
  readonly refusal: Problem | undefined;
  /**
   * Waits, for a limited time in milliseconds, until something may have changed since this was called last, and
   * `authenticate` has confirmed that the caller may have it.
   */
  changed(ms: number): Promise<Awaited>;
  end(): void;
}

/** The open watches. */
export class Watches<Context extends UserContext> {
  readonly #listen: ListenTo<Context>;
  readonly #listeners: Listeners;
  readonly #authenticateMs: number;

  /**
   * @param budget of those who wait, and of open streams
   * @param authenticateMs the time after which a watch's authorization is confirmed again, in milliseconds
   */
  constructor(listen: ListenTo<Context>, budget: Budget, authenticateMs: number) {
    this.#listen = listen;
    this.#listeners = new Listeners(budget);
    this.#authenticateMs = authenticateMs;
  }

  /**
   * Begins to watch. The watch must be ended.
   * @throws what `Listeners.enter`, `Listener.join` and `listen` throw
   */
  async open(caller: Identified<Context>, watched: Watched): Promise<Watch<Context>> {
    const { context, signal } = caller;
    const listener = this.#listeners.enter(context.userID, (refusal) => watch.end(refusal));
    const authorization = new Authorization(caller, {
      intervalMs: this.#authenticateMs,
      onRefused: (refusal) => listener.end(refusal),
      onConfirmed: () => watch.wake(),
    });
    const watch = new OpenWatch(authorization, signal?.(), () => listener.end());
    await listener.join(
      this.#listen(context, watched, () => watch.poke()),
      authorization,
    );
    return watch;
  }

  /** Ends all watches of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#listeners.disconnect(userIDs);
  }

  /** Ends all watches, and refuses new ones. */
  close(): void {
    this.#listeners.close();
  }
}

class OpenWatch<Context extends UserContext> implements Watch<Context> {
  readonly #authorization: Authorization<Context>;
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: () => void;
  #isPoked = false;
  #hasEnded = false;
  #refusal: Problem | undefined;
  /** Ends the waiting that is under way. */
  #wake: (() => void) | undefined;

  constructor(authorization: Authorization<Context>, signal: AbortSignal | undefined, onEnd: () => void) {
    const { expiresAt } = authorization.context;
    const end = () => this.end();
    const age = expiresAt && setTimeout(end, Math.min(expiresAt.getTime() - Date.now(), longestTimerMs));
    this.#authorization = authorization;
    signal?.addEventListener('abort', end);
    this.#signal = signal;
    this.#onEnd = () => {
      clearTimeout(age);
      signal?.removeEventListener('abort', end);
      onEnd();
    };
  }

  get context(): Context {
    return this.#authorization.context;
  }

  get refusal(): Problem | undefined {
    return this.#refusal;
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#signal?.aborted === true;
  }

  poke(): void {
    this.#isPoked = true;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  async changed(ms: number): Promise<Awaited> {
    const until = performance.now() + ms;
    for (;;) {
      if (this.#isOver) return 'over';
      if (this.#isPoked && this.#authorization.isFresh) {
        this.#isPoked = false;
        return 'changed';
      }
      const leftMs = until - performance.now();
      if (leftMs <= 0) return 'late';
      if (this.#isPoked) void this.#authorization.confirm();
      await this.#sleep(this.#isPoked ? Math.min(leftMs, maxAgeMs) : leftMs);
    }
  }

  end(refusal?: Problem): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#refusal = refusal;
    this.#onEnd();
    this.#wake?.();
  }

  /** Waits for a limited time, or until something has happened. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wake = wake;
    });
  }
}
