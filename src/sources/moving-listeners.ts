import type { UserContext } from '../context.js';
import { describeError, type Logger } from '../log.js';
import type { Listening } from '../protocol/poke.js';
import type { ViewPart } from '../view/client-views.js';
import type { Source } from './source.js';

/** One who listens, and where. */
interface Listener<Context extends UserContext> {
  readonly ctx: Context;
  readonly listening: Listening;
  readonly poke: () => void;
  readonly part: ViewPart | undefined;
  readonly ends: Map<Source<Context>, () => void>;
  hasEnded: boolean;
}

/** How many are moved at once. */
const movedAtOnce = 50;
/** After how long it is tried again to move those who could not be moved, in milliseconds. */
const retryMs = 1_000;

/** Has each listener listen where its pulls will read: a poke is of use only if they can see what it is about. */
export class MovingListeners<Context extends UserContext> {
  readonly #places: (listening: Listening, userID: string) => readonly Source<Context>[];
  readonly #log: Logger;
  readonly #all = new Set<Listener<Context>>();
  #moving: Promise<void> = Promise.resolve();

  /** @param places returns where a client is to listen now */
  constructor(places: (listening: Listening, userID: string) => readonly Source<Context>[], log: Logger) {
    this.#places = places;
    this.#log = log;
  }

  /** @throws as `Tail.listen` */
  async listen(ctx: Context, listening: Listening, poke: () => void, part?: ViewPart): Promise<() => void> {
    const listener = { ctx, listening, poke, part, ends: new Map<Source<Context>, () => void>(), hasEnded: false };
    await this.#settle(listener);
    this.#all.add(listener);
    // While it was being settled, it may have come to belong elsewhere.
    if (!this.#isSettled(listener)) await this.#settle(listener);
    return () => this.#end(listener);
  }

  /**
   * Other places may be right from now on. Whoever listens elsewhere then is poked: it may have missed something.
   * @returns when all have moved
   */
  move(): Promise<void> {
    this.#moving = this.#moving.then(() => this.#moveAll());
    return this.#moving;
  }

  async #moveAll(): Promise<void> {
    const all = [...this.#all];
    for (let i = 0; i < all.length; i += movedAtOnce) {
      const some = all.slice(i, i + movedAtOnce).filter((one) => !this.#isSettled(one));
      await Promise.all(some.map((one) => this.#moveOne(one)));
    }
    if (all.some((one) => !this.#isSettled(one))) setTimeout(() => this.move(), retryMs).unref();
  }

  async #moveOne(listener: Listener<Context>): Promise<void> {
    try {
      await this.#settle(listener);
      if (!listener.hasEnded) listener.poke();
    } catch (error) {
      this.#log.warn({ error: describeError(error) }, 'A client cannot be told of changes; trying again');
    }
  }

  #placesOf({ listening, ctx }: Listener<Context>): readonly Source<Context>[] {
    return this.#places(listening, ctx.userID);
  }

  #isSettled(listener: Listener<Context>): boolean {
    const places = this.#placesOf(listener);
    return listener.hasEnded || (places.length === listener.ends.size && places.every((one) => listener.ends.has(one)));
  }

  async #settle(listener: Listener<Context>): Promise<void> {
    const { ctx, listening, poke, part, ends } = listener;
    const places = this.#placesOf(listener);
    for (const place of places) {
      if (ends.has(place)) continue;
      const end = await place.tail.listen(ctx, listening, poke, part);
      if (listener.hasEnded) return end();
      ends.set(place, end);
    }
    for (const [place, end] of ends) {
      if (places.includes(place)) continue;
      end();
      ends.delete(place);
    }
  }

  #end(listener: Listener<Context>): void {
    listener.hasEnded = true;
    this.#all.delete(listener);
    for (const end of listener.ends.values()) end();
  }
}
