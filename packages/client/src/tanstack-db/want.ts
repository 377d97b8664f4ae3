import { ClientError, closedClient } from '../client-error.js';
import type { Client } from '../create-client.js';
import { mayGetAnswer } from '../sync/may-answer.js';
import type { AnyViews } from '../types.js';
import type { WantOptions } from '../wants/wants.js';

/** An instance that a query wants. */
export interface Wanted {
  /** Resolves when the client has all its rows. Rejects if the server refuses it, or if it is released before. */
  readonly complete: Promise<void>;
  release(reason?: unknown): void;
}

interface WantedOptions extends WantOptions {
  /**
   * Called, perhaps several times, once the client has all rows, and the server has answered for them since the client was
   * created, or cannot be reached.
   */
  onAnswered(): void;
}

/** Wants an instance of a view or, without arguments, waits for the view. */
export function want<Mutators, Views extends AnyViews>(
  client: Client<Mutators, Views>,
  name: string,
  args: unknown,
  { ttl, onAnswered }: WantedOptions,
): Wanted {
  const view = (client as unknown as Client<never, AnyViews>).view(name, args);
  // The collection has the rows, so this reads none.
  const state = view.observe({ limit: 0, ttl });
  const isAnswered = view.observeAnswered();
  let stop: Wanted['release'] = () => {};
  const complete = new Promise<void>((resolve, reject) => {
    const update = () => {
      const { rows, complete: isComplete, refused } = state.get();
      const status = client.status.get();
      if (refused) reject(new ClientError(refused.code, refused.message));
      else if (status.state === 'closed') reject(status.error ?? closedClient());
      else if (rows && isComplete) {
        if (isAnswered.get() || !mayGetAnswer(status)) onAnswered();
        resolve();
      }
    };
    const stops = [state.subscribe(update), isAnswered.subscribe(update), client.status.subscribe(update)];
    stop = (reason) => {
      for (const each of stops) each();
      reject(reason);
    };
    update();
  });
  return { complete, release: (reason) => stop(reason) };
}
