import type { Mutation } from '../protocol/push.js';
import type { Mutators } from './mutators.js';
import { type PreparedCall, prepare } from './prepare.js';

/**
 * The prepared calls of a push. Prepares each mutation at most once, so that a smaller batch of the same mutations does
 * not validate them again.
 */
export class PreparedCalls<Tx, Context> {
  readonly #mutators: Mutators<Tx, Context>;
  readonly #calls = new Map<Mutation, Promise<PreparedCall<Tx, Context>>>();

  constructor(mutators: Mutators<Tx, Context>) {
    this.#mutators = mutators;
  }

  /**
   * Returns the call of a mutation, for all transactions that the mutation runs in.
   * @throws as `prepare`
   */
  get(mutation: Mutation): Promise<PreparedCall<Tx, Context>> {
    const call = this.#calls.get(mutation) ?? prepare(this.#mutators, mutation.name, mutation.args);
    this.#calls.set(mutation, call);
    return call;
  }
}
