import type { PendingMutation } from '../stores/types.js';

type MutationRef = Pick<PendingMutation, 'clientID' | 'id'>;

/** The mutations that the server has acknowledged by answering a push of them with 200. */
export class Acknowledgements {
  /** For each client, the last acknowledged mutation and the sequence number of its acknowledgement. */
  readonly #last = new Map<string, { readonly id: number; readonly at: number }>();
  #sequence = 0;

  /** Records that a push of these mutations has succeeded. */
  add(mutations: readonly MutationRef[]): void {
    this.#sequence++;
    for (const { clientID, id } of mutations) {
      if (id > (this.#last.get(clientID)?.id ?? 0)) this.#last.set(clientID, { id, at: this.#sequence });
    }
  }

  has({ clientID, id }: MutationRef): boolean {
    return id <= (this.#last.get(clientID)?.id ?? 0);
  }

  /** The current sequence number, for `forget`. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Forgets what was acknowledged up to this sequence number, at which a completed pull began. The pull confirmed those
   * mutations. Any that are still pending have been lost, and are pushed again.
   */
  forget(sequence: number): void {
    for (const [clientID, { at }] of this.#last) if (at <= sequence) this.#last.delete(clientID);
  }
}
