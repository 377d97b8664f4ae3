/** Watches: requests that wait for changes of what they read. */
import type { UserContext } from '../../context.js';
import type { Problem } from '../../errors.js';
import type { IdentifiedCaller } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import { noGroup } from '../../protocol/pull.js';
import type { ReplicaRouter } from '../../replicas/replica-router.js';
import type { ViewPart } from '../../view/client-views.js';
import { Authorization, maxAgeMs, type OpenRequest } from './authorization.js';
import { type Registration, Registrations } from './registrations.js';
import { maxTimerMs } from './stream-life.js';

/** The part of the client view that a watch waits for. */
export interface WatchTarget {
  readonly part: ViewPart;
  readonly profileID: string;
  readonly schemaVersion: string;
}

/** `ended`: the caller has disconnected, its authorization has expired or was refused, or the server is stopping. */
export type WatchOutcome = 'changed' | 'timeout' | 'ended';

/** One watch. It misses no change since it was opened. */
export interface Watch<Context extends UserContext> {
  /** The caller's context, from the latest call of `authenticate`. */
  readonly context: Context;
  /** The reason why the caller is no longer allowed to read the target; undefined if it still is. */
  readonly refusal: Problem | undefined;
  /**
   * Waits at most `ms` milliseconds for a possible change of the target since the previous call, and for `authenticate`
   * to confirm that the caller is still allowed to read it.
   */
  waitForChange(ms: number): Promise<WatchOutcome>;
  end(): void;
}

/** The open watches. */
export class Watches<Context extends UserContext> {
  readonly #replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>;
  readonly #registrations: Registrations;
  readonly #authenticateMs: number;

  /**
   * @param budget the budget of watches and open streams
   * @param authenticateMs the time after which a watch's authorization is confirmed again, in milliseconds
   */
  constructor(replicaRouter: Pick<ReplicaRouter<Context>, 'subscribe'>, budget: Budget, authenticateMs: number) {
    this.#replicaRouter = replicaRouter;
    this.#registrations = new Registrations(budget);
    this.#authenticateMs = authenticateMs;
  }

  /**
   * Opens a watch, which the caller must end.
   * @throws whatever `Registrations.register`, `Registration.activate` and `ReplicaRouter.subscribe` throw
   */
  async open(
    caller: IdentifiedCaller<Context>,
    { part, profileID, schemaVersion }: WatchTarget,
  ): Promise<Watch<Context>> {
    const { context } = caller;
    const registration = this.#registrations.register(context.userID, (refusal) => watch.end(refusal));
    const watch = new OpenWatch(caller, registration, this.#authenticateMs);
    const clients = { clientGroupID: noGroup, profileID, schemaVersion };
    await registration.activate(
      this.#replicaRouter.subscribe(context, clients, () => watch.poke(), part),
      watch.authorization,
    );
    return watch;
  }

  /** Ends all watches of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    this.#registrations.disconnect(userIDs);
  }

  /** Ends all watches, and refuses new ones. */
  close(): void {
    this.#registrations.close();
  }
}

class OpenWatch<Context extends UserContext> implements Watch<Context>, OpenRequest {
  readonly authorization: Authorization<Context>;
  readonly #registration: Registration;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.end();
  #expiry: NodeJS.Timeout | undefined;
  #isPoked = false;
  #hasEnded = false;
  #refusal: Problem | undefined;
  /** Ends the current wait. */
  #wake: (() => void) | undefined;

  constructor(caller: IdentifiedCaller<Context>, registration: Registration, authenticateMs: number) {
    const { expiresAt } = caller.context;
    const leftMs = expiresAt && Math.min(Math.max(0, expiresAt.getTime() - Date.now()), maxTimerMs);
    if (leftMs !== undefined) this.#expiry = setTimeout(() => this.end(), leftMs);
    this.authorization = new Authorization(caller, this, authenticateMs);
    this.#registration = registration;
    this.#signal = caller.request.signal;
    this.#signal.addEventListener('abort', this.#onAbort);
  }

  get context(): Context {
    return this.authorization.context;
  }

  get refusal(): Problem | undefined {
    return this.#refusal;
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#signal.aborted;
  }

  poke(): void {
    this.#isPoked = true;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  async waitForChange(ms: number): Promise<WatchOutcome> {
    const until = performance.now() + ms;
    for (;;) {
      if (this.#isOver) return 'ended';
      if (this.#isPoked && this.authorization.isFresh) {
        this.#isPoked = false;
        return 'changed';
      }
      const leftMs = until - performance.now();
      if (leftMs <= 0) return 'timeout';
      if (this.#isPoked) void this.authorization.confirm();
      await this.#sleep(this.#isPoked ? Math.min(leftMs, maxAgeMs) : leftMs);
    }
  }

  end(refusal?: Problem): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#refusal = refusal;
    clearTimeout(this.#expiry);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#registration.end(refusal);
    this.#wake?.();
  }

  /** Waits for a limited time, or until `wake` is called. */
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
