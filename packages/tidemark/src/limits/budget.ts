/** Limits how much of a resource is in use, in total and by each user. */
import { Problem } from '../errors.js';

/** The options of `Budget`. */
export interface BudgetOptions {
  /** The maximum amount in use. */
  readonly total: number;
  /** The maximum amount in use by one user. */
  readonly perUser: number;
  /** The message for refused requests. */
  readonly refusal: string;
  /** Another budget that is charged for everything as well, and the user to charge there. Default: none. */
  readonly parent?: { readonly budget: Budget; readonly consumer: string } | undefined;
}

/** Refused clients retry after one to four seconds, so that they do not all return at the same time. */
const minRetryAfter = 1;
const retryAfterSpread = 3;

/** The amount that a piece of work has taken from a budget. */
export interface Reservation {
  /** Takes this much more if it is available. Returns true if it was. */
  tryTake(amount: number): boolean;
  /**
   * Takes this much more.
   * @throws Problem `too-many-requests` if it exceeds the user's share, `unavailable` if the budget is used up
   */
  take(amount: number): void;
  /** Gives everything back to the budget. */
  end(): void;
}

/** Tracks how much each user has taken. Requests never wait: the budget grants or refuses them immediately. */
export class Budget {
  readonly #options: BudgetOptions;
  readonly #usedByUser = new Map<string, number>();
  #used = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** The amount in use. */
  get used(): number {
    return this.#used;
  }

  /** Runs work that can take from the budget, and gives back what it took when the work ends. */
  async during<T>(userID: string, work: (reservation: Reservation) => Promise<T>): Promise<T> {
    const reservation = this.open(userID);
    try {
      return await work(reservation);
    } finally {
      reservation.end();
    }
  }

  /** Opens a reservation for a user. The caller must end it. */
  open(userID: string): Reservation {
    const { parent } = this.#options;
    const parentReservation = parent?.budget.open(parent.consumer);
    let usage = 0;
    const tryTake = (amount: number): boolean => {
      if (this.#refusal(userID, amount) || parentReservation?.tryTake(amount) === false) return false;
      usage += amount;
      this.#add(userID, amount);
      return true;
    };
    return {
      tryTake,
      take: (amount) => {
        if (!tryTake(amount)) throw this.#problem(this.#refusal(userID, amount) ?? 'unavailable');
      },
      end: () => {
        this.#add(userID, -usage);
        usage = 0;
        parentReservation?.end();
      },
    };
  }

  #usedBy(userID: string): number {
    return this.#usedByUser.get(userID) ?? 0;
  }

  #add(userID: string, amount: number): void {
    this.#used += amount;
    const userTotal = this.#usedBy(userID) + amount;
    if (userTotal > 0) this.#usedByUser.set(userID, userTotal);
    else this.#usedByUser.delete(userID);
  }

  #refusal(userID: string, amount: number): 'too-many-requests' | 'unavailable' | undefined {
    if (this.#usedBy(userID) + amount > this.#options.perUser) return 'too-many-requests';
    return this.#used + amount > this.#options.total ? 'unavailable' : undefined;
  }

  #problem(code: 'too-many-requests' | 'unavailable'): Problem {
    const seconds = minRetryAfter + Math.floor(Math.random() * (retryAfterSpread + 1));
    return new Problem(code, this.#options.refusal, { headers: { 'Retry-After': String(seconds) } });
  }
}
