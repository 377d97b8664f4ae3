import type { Budget, Reservation } from '../../limits/budget.js';
import { describeError, type Logger } from '../../log.js';
import type { Caller } from '../identify.js';
import { SpoolFile } from './spool-file.js';

/** The total time that a client can keep the source waiting before `readAhead` stores its pieces, in milliseconds. */
const maxWaitMs = 1_000;

type Source = AsyncIterator<Uint8Array, undefined>;
type Piece = IteratorResult<Uint8Array, undefined>;

/**
 * Passes on the pieces of an answer as its client takes them. If the client is slow, reads ahead into a temporary file,
 * because a statement that waits for a client holds a connection and a snapshot of the database.
 * @param budget the budget for bytes in files; while it is exhausted, the source waits
 */
export function readAhead(
  pieces: AsyncIterable<Uint8Array, undefined>,
  caller: Caller,
  budget: Budget,
): AsyncIterable<Uint8Array, undefined> {
  return { [Symbol.asyncIterator]: () => new ReadAhead(pieces[Symbol.asyncIterator](), caller, budget) };
}

class ReadAhead implements AsyncIterator<Uint8Array, undefined> {
  readonly #source: Source;
  readonly #caller: Caller;
  readonly #budget: Budget;
  #timer: NodeJS.Timeout | undefined;
  #idleSince: number | undefined;
  #waitedMs = 0;
  #store: Store | undefined;
  #hasEnded = false;

  constructor(source: Source, caller: Caller, budget: Budget) {
    this.#source = source;
    this.#caller = caller;
    this.#budget = budget;
  }

  async next(): Promise<Piece> {
    this.#stopWaiting();
    try {
      return await this.#next();
    } catch (error) {
      // A consumer that receives a failure does not call `return`. A second failure would add nothing.
      await this.return().catch(() => {});
      throw error;
    }
  }

  async return(): Promise<Piece> {
    this.#hasEnded = true;
    this.#stopWaiting();
    try {
      await this.#source.return?.();
    } finally {
      await this.#store?.close();
    }
    return { done: true, value: undefined };
  }

  async #next(): Promise<Piece> {
    const stored = await this.#store?.next();
    if (stored) return stored;
    this.#store = undefined;
    const piece = await this.#source.next();
    if (!piece.done && !this.#hasEnded) this.#wait();
    return piece;
  }

  #wait(): void {
    this.#idleSince = performance.now();
    // Node warns of negative timeouts.
    const leftMs = Math.max(0, maxWaitMs - this.#waitedMs);
    this.#timer = setTimeout(() => {
      this.#store = new Store(this.#source, this.#caller, this.#budget);
    }, leftMs);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    if (this.#idleSince === undefined) return;
    this.#waitedMs = this.#store ? 0 : this.#waitedMs + performance.now() - this.#idleSince;
    this.#idleSince = undefined;
  }
}

/** Stores the pieces of a source until the client has caught up with it. */
class Store {
  readonly #log: Logger;
  readonly #reservation: Reservation;
  #file: SpoolFile | undefined;
  /** The piece that could not be stored, or the end. Settles when storing stops. */
  #last: Promise<Piece | undefined>;
  #hasCaughtUp = false;

  constructor(source: Source, { context, log }: Caller, budget: Budget) {
    this.#log = log;
    this.#reservation = budget.open(context.userID);
    this.#last = this.#fill(source);
    // `next` reports the failure.
    this.#last.catch(() => {});
  }

  /**
   * Returns the next piece; undefined if none is left in the store.
   * @throws what the source throws
   */
  async next(): Promise<Piece | undefined> {
    const value = await this.#file?.read();
    if (value) return { value };
    this.#hasCaughtUp = true;
    const last = await this.#last;
    // The source may have yielded more while this waited.
    const late = await this.#file?.read();
    if (late) return { value: late };
    this.#last = Promise.resolve(undefined);
    await this.#remove();
    return last;
  }

  /** Stops storing, and discards the stored pieces. */
  async close(): Promise<void> {
    this.#hasCaughtUp = true;
    await this.#last.catch(() => {});
    await this.#remove();
  }

  async #fill(source: Source): Promise<Piece | undefined> {
    this.#file = await this.#attempt(SpoolFile.create());
    while (this.#file && !this.#hasCaughtUp) {
      const piece = await source.next();
      if (piece.done || !this.#reservation.tryTake(piece.value.byteLength)) return piece;
      const stored = await this.#attempt(this.#file.append(piece.value).then(() => true));
      if (!stored) return piece;
    }
    return undefined;
  }

  async #attempt<T>(work: Promise<T>): Promise<T | undefined> {
    return work.catch((error: unknown) => {
      this.#log.warn({ error: describeError(error) }, 'A slow client keeps a connection: its answer cannot be stored');
      return undefined;
    });
  }

  async #remove(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#reservation.end();
    await file?.close();
  }
}
