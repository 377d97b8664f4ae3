/** The open subscriptions of one kind, such as streams. */
export interface SubscriptionsOfKind {
  /** Ends all subscriptions of these users. */
  disconnect(userIDs: ReadonlySet<string>): void;
}

/** Everything on this server that a disconnect ends. */
export class OpenSubscriptions {
  readonly #kinds: SubscriptionsOfKind[] = [];

  add(...kinds: readonly SubscriptionsOfKind[]): void {
    this.#kinds.push(...kinds);
  }

  /** Ends everything that is open for these users. */
  disconnect(userIDs: ReadonlySet<string>): void {
    for (const kind of this.#kinds) kind.disconnect(userIDs);
  }
}
