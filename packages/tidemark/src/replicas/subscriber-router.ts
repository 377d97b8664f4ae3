import type { UserContext } from '../context.js';
import { describeError, type Logger } from '../log.js';
import type { SubscribeRequest } from '../protocol/poke.js';
import type { ViewPart } from '../view/client-views.js';
import type { Replica } from './replica.js';

/** A subscriber, and the replicas on which it is subscribed. */
interface RoutedSubscriber<Context extends UserContext> {
  readonly ctx: Context;
  readonly clients: SubscribeRequest;
  readonly poke: () => void;
  readonly part: ViewPart | undefined;
  readonly ends: Map<Replica<Context>, () => void>;
  hasEnded: boolean;
}

/** The number of subscribers that are rerouted concurrently. */
const maxReroutedAtOnce = 50;
/** The delay before a failed rerouting is tried again, in milliseconds. */
const retryMs = 1_000;

/** Subscribes clients on the replicas that their pulls read from. A poke is useful only if these show the change. */
export class SubscriberRouter<Context extends UserContext> {
  readonly #replicasFor: (clients: SubscribeRequest, userID: string) => readonly Replica<Context>[];
  readonly #log: Logger;
  readonly #all = new Set<RoutedSubscriber<Context>>();
  #rerouting: Promise<void> = Promise.resolve();

  /** @param replicasFor returns the replicas on which a client must be subscribed now */
  constructor(replicasFor: (clients: SubscribeRequest, userID: string) => readonly Replica<Context>[], log: Logger) {
    this.#replicasFor = replicasFor;
    this.#log = log;
  }

  /** @throws as `PokeNotifier.subscribe` */
  async subscribe(ctx: Context, clients: SubscribeRequest, poke: () => void, part?: ViewPart): Promise<() => void> {
    const subscriber = { ctx, clients, poke, part, ends: new Map<Replica<Context>, () => void>(), hasEnded: false };
    try {
      await this.#route(subscriber);
      this.#all.add(subscriber);
      // While it was being routed, its replicas may have changed.
      if (!this.#isRouted(subscriber)) await this.#route(subscriber);
    } catch (error) {
      this.#end(subscriber);
      throw error;
    }
    return () => this.#end(subscriber);
  }

  /**
   * Reroutes all subscribers whose replicas have changed, and pokes them, because they may have missed a change.
   * @returns after all have been rerouted
   */
  reroute(): Promise<void> {
    this.#rerouting = this.#rerouting.then(() => this.#rerouteAll());
    return this.#rerouting;
  }

  async #rerouteAll(): Promise<void> {
    const all = [...this.#all];
    for (let i = 0; i < all.length; i += maxReroutedAtOnce) {
      const some = all.slice(i, i + maxReroutedAtOnce).filter((one) => !this.#isRouted(one));
      await Promise.all(some.map((one) => this.#rerouteOne(one)));
    }
    if (all.some((one) => !this.#isRouted(one))) setTimeout(() => this.reroute(), retryMs).unref();
  }

  async #rerouteOne(subscriber: RoutedSubscriber<Context>): Promise<void> {
    try {
      await this.#route(subscriber);
      if (!subscriber.hasEnded) subscriber.poke();
    } catch (error) {
      this.#log.warn({ error: describeError(error) }, 'A client cannot be subscribed to changes; trying again');
    }
  }

  #replicasOf({ clients, ctx }: RoutedSubscriber<Context>): readonly Replica<Context>[] {
    return this.#replicasFor(clients, ctx.userID);
  }

  #isRouted(subscriber: RoutedSubscriber<Context>): boolean {
    const replicas = this.#replicasOf(subscriber);
    return (
      subscriber.hasEnded ||
      (replicas.length === subscriber.ends.size && replicas.every((one) => subscriber.ends.has(one)))
    );
  }

  async #route(subscriber: RoutedSubscriber<Context>): Promise<void> {
    const { ctx, clients, poke, part, ends } = subscriber;
    const replicas = this.#replicasOf(subscriber);
    for (const replica of replicas) {
      if (ends.has(replica)) continue;
      const end = await replica.notifier.subscribe(ctx, clients, poke, part);
      if (subscriber.hasEnded) return end();
      // It may have been rerouted meanwhile.
      if (ends.has(replica)) end();
      else ends.set(replica, end);
    }
    for (const [replica, end] of ends) {
      if (replicas.includes(replica)) continue;
      end();
      ends.delete(replica);
    }
  }

  #end(subscriber: RoutedSubscriber<Context>): void {
    subscriber.hasEnded = true;
    this.#all.delete(subscriber);
    for (const end of subscriber.ends.values()) end();
  }
}
