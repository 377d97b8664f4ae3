/** Keeps work of one kind from taking all connections, and one user from taking all of its places. */
import { Problem } from '../errors.js';

/** Gives a place back. Further calls have no effect. */
export type Leave = () => void;

/** The options of `Gate`. */
export interface GateOptions {
  /** How many may be in at once. */
  readonly places: number;
  /** How many may wait for a place; of one user, a tenth. */
  readonly mostWaiting: number;
  /** How long each may wait, in milliseconds. Whoever would have to wait for longer is refused at once. */
  readonly longestWaitMs: number;
  /** What each is taken to last until enough have ended, in milliseconds. */
  readonly usualMs: number;
  /** Why there is no place, for whoever is refused. */
  readonly refusal: string;
}

/** There is no place, and there will be none in time. */
export class NoPlaceError extends Problem {}

/**
 * How many of the last ones tell how long the next one takes: their median. When very many come at once, this process is
 * busy for a moment, and those that are in seem to last a hundred times as long. That must not send the others away.
 */
const remembered = 31;
/** In seconds. */
const longestRetryAfter = 60;

/** One user leaves a place to others, if there are more than two. */
function placesPerUser(places: number): number {
  return Math.max(2, places - 1);
}

/** How many of one user there are. */
interface Share {
  running: number;
  waiting: number;
}

interface Waiting {
  readonly share: Share;
  readonly letIn: () => void;
}

/**
 * Lets in as many as there are places. A limited number of others wait, for a limited time. Of these, the next is whose
 * user has the fewest places, and who came first. All others are told when to come back: each later than the one before,
 * so that they do not all return at once.
 */
export class Gate {
  readonly #options: GateOptions;
  #running = 0;
  readonly #waiting = new Set<Waiting>();
  readonly #shares = new Map<string, Share>();
  /** What the last ones have lasted, in milliseconds, in no order. */
  readonly #lasted: number[];
  #ended = 0;
  /** When the place becomes free that was promised last. */
  #promised = 0;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#lasted = new Array<number>(remembered).fill(options.usualMs);
  }

  /** How many have a place. */
  get running(): number {
    return this.#running;
  }

  /** How many are waiting. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many users are in or waiting. */
  get users(): number {
    return this.#shares.size;
  }

  /**
   * Does work in a place.
   * @param userID undefined if the work is for several users
   * @param signalOf returns what aborts when the client goes away
   * @throws as `enter`, and what the work throws
   */
  async run<T>(userID: string | undefined, work: () => Promise<T>, signalOf?: () => AbortSignal): Promise<T> {
    const leave = await this.enter(userID, signalOf);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Waits for a place.
   * @param userID undefined if the place is for several users
   * @param signalOf returns what aborts when the client goes away; called only if there is no place at once
   * @throws Problem `unavailable` if there is none in time, if none is to be expected in time, or if too many are waiting;
   * `too-many-requests` if too many of them are the user's own.
   */
  enter(userID: string | undefined, signalOf?: () => AbortSignal): Promise<Leave> {
    const { mostWaiting, longestWaitMs } = this.#options;
    const share = (userID !== undefined && this.#shares.get(userID)) || { running: 0, waiting: 0 };
    if (this.#hasPlaceFor(share)) return Promise.resolve(this.#take(userID, share));
    if (share.waiting >= mostWaiting / 10) return Promise.reject(this.#refusal('too-many-requests'));
    const isFull = this.#waiting.size >= mostWaiting || this.#waitMs > longestWaitMs;
    if (isFull) return Promise.reject(this.#refusal('unavailable'));
    const signal = signalOf?.();
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(patience);
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.delete(entry);
        share.waiting--;
        this.#keep(userID, share);
      };
      const entry: Waiting = {
        share,
        letIn: () => {
          stop();
          resolve(this.#take(userID, share));
        },
      };
      const onAbort = () => {
        stop();
        reject(new Problem('unavailable', 'The client went away while it was waiting'));
      };
      const patience = setTimeout(() => {
        stop();
        reject(this.#refusal('unavailable'));
      }, longestWaitMs);
      this.#waiting.add(entry);
      share.waiting++;
      this.#keep(userID, share);
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) onAbort();
    });
  }

  #hasPlaceFor({ running }: Share): boolean {
    const { places } = this.#options;
    return this.#running < places && running < placesPerUser(places);
  }

  #keep(userID: string | undefined, share: Share): void {
    if (userID === undefined) return;
    if (share.running + share.waiting > 0) this.#shares.set(userID, share);
    else this.#shares.delete(userID);
  }

  /** How long a place takes to become free if all are taken, in milliseconds. */
  get #turnMs(): number {
    const usualMs = this.#lasted.toSorted((a, b) => a - b)[remembered >> 1]!;
    return usualMs / this.#options.places;
  }

  /** How long whoever comes now would wait. */
  get #waitMs(): number {
    return (this.#waiting.size + 1) * this.#turnMs;
  }

  #take(userID: string | undefined, share: Share): Leave {
    this.#running++;
    share.running++;
    this.#keep(userID, share);
    const started = performance.now();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running--;
      share.running--;
      this.#keep(userID, share);
      this.#lasted[this.#ended++ % remembered] = performance.now() - started;
      this.#letNextIn();
    };
  }

  #letNextIn(): void {
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (this.#hasPlaceFor(one.share) && !(next && next.share.running <= one.share.running)) next = one;
    }
    next?.letIn();
  }

  #refusal(code: 'unavailable' | 'too-many-requests'): NoPlaceError {
    const now = performance.now();
    const next = Math.max(now + this.#waitMs, this.#promised + this.#turnMs);
    this.#promised = Math.min(next, now + longestRetryAfter * 1000);
    const seconds = ((this.#promised - now) / 1000) * (1 + Math.random() / 2);
    const retryAfter = Math.min(Math.ceil(seconds), longestRetryAfter);
    return new NoPlaceError(code, this.#options.refusal, { headers: { 'Retry-After': String(retryAfter) } });
  }
}
