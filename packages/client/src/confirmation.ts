import { refusedCall } from './client-error.js';
import type { Observable } from './observable.js';
import type { PendingMutation } from './stores/types.js';
import type { MutationCall, Refusal } from './types.js';

/** The mutations of a client, and those that the server has refused. */
export interface Mutations {
  readonly clientID: string;
  readonly pending: Observable<readonly PendingMutation[]>;
  readonly refused: Observable<readonly Refusal[]>;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/** The calls of this client that no pull has confirmed, and that wait for that. */
export class Confirmations {
  readonly #mutations: Mutations;
  readonly #waiting = new Map<number, Waiting>();
  /** The lowest ID of a waiting mutation. */
  #firstWaiting = Number.POSITIVE_INFINITY;
  /** Kept when the application dismisses them, which it may do before this class sees the confirmation. */
  readonly #refusals = new Map<number, Refusal>();
  #endError: Error | undefined;

  constructor(mutations: Mutations) {
    this.#mutations = mutations;
    mutations.pending.subscribe(() => this.#settle());
    mutations.refused.subscribe((refusals) => {
      for (const refusal of refusals) {
        if (refusal.clientID === mutations.clientID) this.#refusals.set(refusal.mutationID, refusal);
      }
    });
  }

  /**
   * Waits until a pull confirms a recorded mutation.
   * @throws ClientError `refused` if the server has refused it, and the error of `end`
   */
  wait(mutationID: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(mutationID, { resolve, reject });
      this.#firstWaiting = Math.min(this.#firstWaiting, mutationID);
      this.#settle();
    });
  }

  /** Rejects all that wait, and later ones. */
  end(error: Error): void {
    this.#endError = error;
    this.#settle();
  }

  /** Settles the calls that are no longer pending. A refusal arrives with the confirmation. */
  #settle(): void {
    const { clientID, pending } = this.#mutations;
    const firstPending =
      pending.get().find((mutation) => mutation.clientID === clientID)?.id ?? Number.POSITIVE_INFINITY;
    // With thousands of pending calls, most changes confirm none of them.
    if (firstPending <= this.#firstWaiting && !this.#endError) return;
    this.#firstWaiting = Number.POSITIVE_INFINITY;
    for (const [id, { resolve, reject }] of this.#waiting) {
      if (id >= firstPending && !this.#endError) {
        this.#firstWaiting = Math.min(this.#firstWaiting, id);
        continue;
      }
      this.#waiting.delete(id);
      const refusal = this.#refusals.get(id);
      if (this.#endError) reject(this.#endError);
      else if (refusal) reject(refusedCall(refusal));
      else resolve();
    }
  }
}

/** Returns a call that waits for its confirmation once its mutation is recorded. @param recorded the mutation's ID */
export function mutationCall(recorded: Promise<number>, wait: Confirmations['wait']): MutationCall {
  const confirmed = recorded.then(wait);
  // Not an unhandled rejection in a page that does not use it.
  confirmed.catch(() => {});
  return Object.assign(
    recorded.then(() => {}),
    { confirmed },
  );
}
