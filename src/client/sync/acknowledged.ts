import type { PendingMutation } from '../stores/types.js';

type MutationRef = Pick<PendingMutation, 'clientID' | 'id'>;

/** Which mutations the server has acknowledged, by answering a push of them with 200. */
export class Acknowledged {
  /** Of each client, the last mutation and the moment of its acknowledgement, counted in acknowledgements. */
  readonly #last = new Map<string, { readonly id: number; readonly at: number }>();
  #now = 0;

  /** That a push of these mutations has succeeded. */
  add(mutations: readonly MutationRef[]): void {
    this.#now++;
    for (const { clientID, id } of mutations) {
      if (id > (this.#last.get(clientID)?.id ?? 0)) this.#last.set(clientID, { id, at: this.#now });
    }
  }

  has({ clientID, id }: MutationRef): boolean {
    return id <= (this.#last.get(clientID)?.id ?? 0);
  }

  /** The moment, for `forget`. */
  get now(): number {
    return this.#now;
  }

  /**
   * That a pull has ended which began at this moment. It has confirmed what was acknowledged before: what is still
   * pending has been lost, and is pushed again.
   */
  forget(moment: number): void {
    for (const [clientID, { at }] of this.#last) if (at <= moment) this.#last.delete(clientID);
  }
}
