import type { PulledResult, PushedMutation } from '#engine';
import { type BatchLimits, batchLimits, firstBatch, halfOf, sizeOf } from './batches.js';
import { tooLarge } from './requests.js';

/** The name under which a mutation with args that are too large is pushed without them. The server refuses it. */
const withdrawnName = 'tidemark/withdrawn';

/** Pushes mutations in batches, and leaves out args that are too large for any batch. */
export class Pushes {
  #limits: BatchLimits = batchLimits;
  /** The size of the smallest mutation that was too large on its own, in bytes. */
  #maxBytes = Number.POSITIVE_INFINITY;
  readonly #withdrawn = new Set<string>();

  /** Returns true if an earlier 413 shows that a call with these args is too large to send. */
  isTooLarge(args: unknown): boolean {
    return Number.isFinite(this.#maxBytes) && sizeOf(args) >= this.#maxBytes;
  }

  /**
   * Pushes all mutations in order, until a batch fails.
   * @param push pushes one batch
   * @returns the result of the last batch
   */
  async send(
    mutations: readonly PushedMutation[],
    push: (batch: readonly PushedMutation[]) => Promise<PulledResult>,
  ): Promise<PulledResult> {
    for (let rest = mutations; ; ) {
      const batch = firstBatch(rest.map(this.#asSent), this.#limits);
      const pushed = await push(batch.mutations);
      if (pushed.httpRequestInfo.httpStatusCode === tooLarge) {
        if (batch.mutations.length > 1) this.#limits = halfOf(batch);
        else if (!this.#withdraw(batch.mutations[0]!, batch.bytes)) return pushed;
        continue;
      }
      rest = rest.slice(batch.mutations.length);
      if (pushed.httpRequestInfo.httpStatusCode !== 200 || pushed.response || rest.length === 0) return pushed;
    }
  }

  readonly #asSent = (mutation: PushedMutation): PushedMutation =>
    this.#withdrawn.has(keyOf(mutation))
      ? { ...mutation, name: withdrawnName, args: { name: mutation.name } }
      : mutation;

  /** @returns false if the mutation has already been withdrawn, so that it is too large even without its args */
  #withdraw(mutation: PushedMutation, bytes: number): boolean {
    if (this.#withdrawn.has(keyOf(mutation))) return false;
    this.#withdrawn.add(keyOf(mutation));
    this.#maxBytes = Math.min(this.#maxBytes, bytes);
    // The earlier batches were too large only because of this mutation.
    this.#limits = { ...batchLimits, bytes: Math.min(batchLimits.bytes, Math.ceil(bytes / 2)) };
    return true;
  }
}

function keyOf({ clientID, id }: PushedMutation): string {
  return `${clientID} ${id}`;
}
