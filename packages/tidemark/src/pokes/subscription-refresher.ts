import type { SchemaState } from '../schema/schema-state.js';
import type { Subscriber, SubscriptionIndex } from './subscription-index.js';

/** Updates the views of subscribers when the schema of their tables changes. */
export class SubscriptionRefresher {
  readonly #subscriptions: SubscriptionIndex;
  readonly #currentSchema: () => Promise<SchemaState>;
  #schema: SchemaState | undefined;
  /** True if a new subscriber's views were resolved with a different schema state. */
  #isBehind = false;

  /** @param currentSchema returns the schema state, which is a new object after each time it has been read */
  constructor(subscriptions: SubscriptionIndex, currentSchema: () => Promise<SchemaState>) {
    this.#subscriptions = subscriptions;
    this.#currentSchema = currentSchema;
  }

  /** Handles a new subscriber, whose views may have been resolved before the schema state was last read. */
  add({ resolvedSchemaHash }: Subscriber): void {
    this.#isBehind ||= resolvedSchemaHash !== this.#schema?.schemaHash;
  }

  /**
   * Updates all subscriptions. Whenever the schema state has been read again, retries those that could not be resolved.
   * @returns the subscribers whose tables have another schema hash, and those whose views have become resolvable or
   * unresolvable; all subscribers if the database belongs to another cluster
   */
  async refresh(): Promise<Iterable<Subscriber>> {
    const previous = this.#schema;
    const schema = await this.#currentSchema();
    if (schema === previous && !this.#isBehind) return [];
    this.#schema = schema;
    this.#isBehind = false;
    const stale = [...this.#subscriptions.subscribers()].filter(
      ({ resolvedSchemaHash }) => resolvedSchemaHash !== schema.schemaHash,
    );
    const areChanged = await Promise.all(stale.map((subscriber) => this.#renew(subscriber, schema.schemaHash)));
    if (previous && previous.cluster !== schema.cluster) return this.#subscriptions.subscribers();
    return stale.filter((_, i) => areChanged[i]);
  }

  async #renew(subscriber: Subscriber, schemaHash: string): Promise<boolean> {
    const before = subscriber.resolvedSchemaHash === undefined ? undefined : subscriber.subscription.schemaHash;
    try {
      const subscription = await subscriber.resolveViews();
      this.#subscriptions.update(subscriber, subscription);
      subscriber.resolvedSchemaHash = schemaHash;
      return subscription.schemaHash !== before;
    } catch {
      // Pulls report and log the reason.
      subscriber.resolvedSchemaHash = undefined;
      return before !== undefined;
    }
  }
}
