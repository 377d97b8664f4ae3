/** The open subscriptions of one kind, such as streams. */
export interface SubscriptionsOfKind {
  /** Ends all subscriptions of these users. */
  disconnect(userIDs: ReadonlySet<string>): void;
  /** Ends all subscriptions, and refuses new ones. */
  close(): void;
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

  /** Ends everything that is open. */
  close(): void {
    for (const kind of this.#kinds) kind.close();
  }
}
