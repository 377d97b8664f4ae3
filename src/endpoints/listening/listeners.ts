/** Those who are told of changes: each is counted as long as it listens, and all end with the server. */
import type { UserContext } from '../../context.js';
import { Problem } from '../../errors.js';
import { refused } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import type { Authorization } from './authorization.js';

/** All listeners of one kind. */
export class Listeners {
  readonly #budget: Budget;
  readonly #open = new Set<Listener>();
  #isClosed = false;

  /** @param budget of listeners, of this kind and others */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /**
   * Takes in a listener, which must be ended.
   * @param onEnd called when it has ended, once; with a refusal if its user may not listen any more
   * @throws Problem `unavailable` if the server is stopping or full, or `too-many-requests` if the user has too many
   */
  enter(userID: string, onEnd: (refusal?: Problem) => void): Listener {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    const holding = this.#budget.open(userID);
    holding.take(1);
    const listener = new Listener(userID, (refusal) => {
      this.#open.delete(listener);
      holding.end();
      onEnd(refusal);
    });
    this.#open.add(listener);
    return listener;
  }

  /** Ends all listeners of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    const refusal = refused('The user has been disconnected; authenticate again');
    for (const listener of this.#open) if (userIDs.has(listener.userID)) listener.end(refusal);
  }

  /** Ends all listeners, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const listener of this.#open) listener.end();
  }
}

/** One listener. */
export class Listener {
  readonly userID: string;
  readonly #onEnd: (refusal?: Problem) => void;
  #authorization: Pick<Authorization<UserContext>, 'begin' | 'end'> | undefined;
  #leave: (() => void) | undefined;
  #hasEnded = false;
  #refusal: Problem | undefined;

  constructor(userID: string, onEnd: (refusal?: Problem) => void) {
    this.userID = userID;
    this.#onEnd = onEnd;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Waits until it listens, and then until its authorization is confirmed, which may have been withdrawn before. It may have ended by then, and is ended by a failure.
   * @param listening resolves with what to call when it ends
   * @param authorization confirmed for as long as it listens. Default: the application has identified the caller
   * @throws the refusal, if its user may not listen any more
   */
  async join(
    listening: Promise<() => void>,
    authorization?: Pick<Authorization<UserContext>, 'begin' | 'end'>,
  ): Promise<void> {
    try {
      this.#leave = await listening;
      if (this.#hasEnded) this.#leave();
      else await this.#authorize(authorization);
    } catch (error) {
      this.end();
      throw error;
    }
    if (this.#refusal) throw this.#refusal;
  }

  #authorize(authorization: Pick<Authorization<UserContext>, 'begin' | 'end'> | undefined): Promise<void> | undefined {
    this.#authorization = authorization;
    return authorization?.begin();
  }

  end(refusal?: Problem): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#refusal = refusal;
    this.#authorization?.end();
    this.#leave?.();
    this.#onEnd(refusal);
  }
}
