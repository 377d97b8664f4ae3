/** Registrations of callers that receive pokes. A budget counts each until it ends, and all end with the server. */
import type { UserContext } from '../../context.js';
import { Problem } from '../../errors.js';
import { unauthenticated } from '../../http/identify.js';
import type { Budget } from '../../limits/budget.js';
import type { Authorization } from './authorization.js';

/** All registrations of one kind. */
export class Registrations {
  readonly #budget: Budget;
  readonly #open = new Set<Registration>();
  #isClosed = false;

  /** @param budget the budget of registrations, of this kind and others */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /**
   * Creates a registration, which the caller must end.
   * @param onEnd called once, when it has ended; with a refusal if the user is no longer allowed to subscribe
   * @throws Problem `unavailable` if the server is stopping or full, or `too-many-requests` if the user has too many
   */
  register(userID: string, onEnd: (refusal?: Problem) => void): Registration {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    const holding = this.#budget.open(userID);
    holding.take(1);
    const registration = new Registration(userID, (refusal) => {
      this.#open.delete(registration);
      holding.end();
      onEnd(refusal);
    });
    this.#open.add(registration);
    return registration;
  }

  /** Ends all registrations of these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    const refusal = unauthenticated('The user has been disconnected; authenticate again');
    for (const registration of this.#open) if (userIDs.has(registration.userID)) registration.end(refusal);
  }

  /** Ends all registrations, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const registration of this.#open) registration.end();
  }
}

/** One registration. */
export class Registration {
  readonly userID: string;
  readonly #onEnd: (refusal?: Problem) => void;
  #authorization: Pick<Authorization<UserContext>, 'begin' | 'end'> | undefined;
  #unsubscribe: (() => void) | undefined;
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
   * Waits for the subscription, then confirms the authorization, which may have been withdrawn since the request began.
   * By then, the registration may have ended. A failure ends it.
   * @param unsubscribePromise resolves with the function that unsubscribes
   * @param authorization confirmed until the registration ends; none if the application has identified the caller
   * @throws the refusal, if the user is no longer allowed to subscribe
   */
  async activate(
    unsubscribePromise: Promise<() => void>,
    authorization?: Pick<Authorization<UserContext>, 'begin' | 'end'>,
  ): Promise<void> {
    try {
      this.#unsubscribe = await unsubscribePromise;
      if (this.#hasEnded) this.#unsubscribe();
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
    this.#unsubscribe?.();
    this.#onEnd(refusal);
  }
}
