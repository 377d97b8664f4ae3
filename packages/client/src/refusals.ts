import type { DiffOperation, MutatorFunction } from '#engine';
import { Cell, Listeners, type Observable } from './observable.js';
import { keyText } from './rows/keys.js';
import type { Subscriptions } from './sync/subscriptions.js';
import type { Refusal } from './types.js';

/** The prefix of the keys under which the server sends refusals. */
const prefix = 'tidemark/refused/';

/** The name of the mutation that tells the server that a refusal is no longer needed. */
export const dismissName = 'tidemark/dismissed';

/** Removes a refusal locally, before the server does. */
export const dismiss: MutatorFunction = async (tx, args) => {
  const { clientID, mutationID } = args as unknown as Refusal;
  await tx.del(prefix + keyText([clientID, mutationID]));
};

/** The refused mutations that the server lists. */
export class Refusals {
  readonly #rows = new Map<string, Refusal>();
  readonly #cell = new Cell<readonly Refusal[]>([]);
  readonly #listeners = new Listeners<Refusal>();

  constructor(subscriptions: Subscriptions) {
    // The first call delivers the refusals that exist when the client opens.
    let opened = false;
    subscriptions.watch(prefix, (diff) => {
      this.#apply(diff, opened);
      opened = true;
    });
  }

  get observable(): Observable<readonly Refusal[]> {
    return this.#cell;
  }

  /** Calls the listener for each new refusal. Returns an unsubscribe function. */
  listen(listener: (refusal: Refusal) => void): () => void {
    return this.#listeners.add(listener);
  }

  #apply(diff: readonly DiffOperation[], notify: boolean): void {
    for (const { op, key, newValue } of diff) {
      const refusal = newValue as unknown as Refusal;
      if (op === 'del') this.#rows.delete(key);
      else this.#rows.set(key, refusal);
      if (op === 'add' && notify) this.#listeners.call(refusal);
    }
    this.#cell.set([...this.#rows.values()]);
  }
}
