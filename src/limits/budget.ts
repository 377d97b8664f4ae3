/** Limits how much of something is in use at once, in all and by each user. */
import { Problem } from '../errors.js';

/** The options of `Budget`. */
export interface BudgetOptions {
  /** How much may be in use at once. */
  readonly total: number;
  /** How much of it one user may have. */
  readonly each: number;
  /** Why there is no more, for whoever is refused. */
  readonly refusal: string;
  /** Another budget, from which everything is taken as well, and as whose. Default: none. */
  readonly within?: { readonly budget: Budget; readonly as: string } | undefined;
}

/** Whoever is refused comes back after one to four seconds, so that not all return at once. */
const leastRetryAfter = 1;
const retryAfterSpread = 3;

/** What a piece of work has taken of a budget. */
export interface Holding {
  /** Takes so much more, if there is so much. Returns whether there was. */
  tryTake(amount: number): boolean;
  /**
   * Takes so much more.
   * @throws Problem `too-many-requests` if it is more than the user's share, `unavailable` if there is no more
   */
  take(amount: number): void;
  /** Gives everything back. */
  end(): void;
}

/** Keeps account of what users have taken. Nobody waits. */
export class Budget {
  readonly #options: BudgetOptions;
  readonly #taken = new Map<string, number>();
  #used = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** How much is in use. */
  get used(): number {
    return this.#used;
  }

  /** Lets work take what it needs, and gives it back when the work is done. */
  async during<T>(userID: string, work: (holding: Holding) => Promise<T>): Promise<T> {
    const holding = this.open(userID);
    try {
      return await work(holding);
    } finally {
      holding.end();
    }
  }

  /** Begins to take something for a user, which must be given back. */
  open(userID: string): Holding {
    const { within } = this.#options;
    const outer = within?.budget.open(within.as);
    let held = 0;
    const tryTake = (amount: number): boolean => {
      if (this.#refusal(userID, amount) || outer?.tryTake(amount) === false) return false;
      held += amount;
      this.#add(userID, amount);
      return true;
    };
    return {
      tryTake,
      take: (amount) => {
        if (!tryTake(amount)) throw this.#problem(this.#refusal(userID, amount) ?? 'unavailable');
      },
      end: () => {
        this.#add(userID, -held);
        held = 0;
        outer?.end();
      },
    };
  }

  #of(userID: string): number {
    return this.#taken.get(userID) ?? 0;
  }

  #add(userID: string, amount: number): void {
    this.#used += amount;
    const taken = this.#of(userID) + amount;
    if (taken > 0) this.#taken.set(userID, taken);
    else this.#taken.delete(userID);
  }

  #refusal(userID: string, amount: number): 'too-many-requests' | 'unavailable' | undefined {
    if (this.#of(userID) + amount > this.#options.each) return 'too-many-requests';
    return this.#used + amount > this.#options.total ? 'unavailable' : undefined;
  }

  #problem(code: 'too-many-requests' | 'unavailable'): Problem {
    const seconds = leastRetryAfter + Math.floor(Math.random() * (retryAfterSpread + 1));
    return new Problem(code, this.#options.refusal, { headers: { 'Retry-After': String(seconds) } });
  }
}
