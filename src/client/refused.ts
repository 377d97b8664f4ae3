import type { DiffOperation, MutatorFunction } from '#engine';
import { Cell, isolate, type Observable } from './observable.js';
import { keyText } from './rows/keys.js';
import type { Subscriptions } from './sync/subscriptions.js';

/** A mutation that the server has refused: it has no effect, here neither. */
export interface Refusal {
  /** The tab that it comes from. */
  readonly clientID: string;
  readonly mutationID: number;
  /** The mutator's name; null if the server has none of the name that was called. */
  readonly name: string | null;
  /** Why, as in docs/errors.md. */
  readonly code: string;
  /** What to tell the user; null if there is nothing that is meant for them. */
  readonly detail: string | null;
  /** When it was refused, in UTC. */
  readonly at: string;
}

/** Where the server puts them. */
const prefix = 'tidemark/refused/';

/** The name under which a client pushes that a refusal is no longer needed. */
export const dismissName = 'tidemark/dismissed';

/** Removes a refusal here, until the server has done so. */
export const dismiss: MutatorFunction = async (tx, args) => {
  const { clientID, mutationID } = args as unknown as Refusal;
  await tx.del(prefix + keyText([clientID, mutationID]));
};

/** The refused mutations that the server tells of. */
export class Refusals {
  readonly #rows = new Map<string, Refusal>();
  readonly #cell = new Cell<readonly Refusal[]>([]);
  readonly #listeners = new Set<{ readonly call: (refusal: Refusal) => void }>();

  constructor(subscriptions: Subscriptions) {
    // The first call brings what is there already when the client opens.
    let opened = false;
    subscriptions.watch(prefix, (diff) => {
      this.#apply(diff, opened);
      opened = true;
    });
  }

  get observable(): Observable<readonly Refusal[]> {
    return this.#cell;
  }

  /** Calls the listener for each refusal from now on. Returns a function that stops it. */
  listen(listener: (refusal: Refusal) => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  #apply(diff: readonly DiffOperation[], tell: boolean): void {
    for (const { op, key, newValue } of diff) {
      const refusal = newValue as unknown as Refusal;
      if (op === 'del') this.#rows.delete(key);
      else this.#rows.set(key, refusal);
      if (op === 'add' && tell) for (const { call } of [...this.#listeners]) isolate(() => call(refusal));
    }
    this.#cell.set([...this.#rows.values()]);
  }
}
