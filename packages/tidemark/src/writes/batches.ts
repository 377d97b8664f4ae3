import type { Mutation } from '../protocol/push.js';

/** The maximum number of mutations that share a transaction. */
const maxBatchSize = 100;

/**
 * Decides which mutations of a push share the next transaction. Usually these are all consecutive ones. After a batch
 * has failed, first the mutations before the failed one form a batch, and then the failed one alone.
 */
export class Batches {
  readonly #mutations: readonly Mutation[];
  readonly #separateMutators: ReadonlySet<string>;
  #sizes: readonly number[] = [];

  /** @param separateMutators the names of mutators that share no transaction */
  constructor(mutations: readonly Mutation[], separateMutators: ReadonlySet<string>) {
    this.#mutations = mutations;
    this.#separateMutators = separateMutators;
  }

  /** Returns the batch that begins at an index: one mutation, or several of one client with consecutive IDs. */
  next(start: number): readonly Mutation[] {
    const [size = maxBatchSize, ...later] = this.#sizes;
    this.#sizes = later;
    const first = this.#mutations[start]!;
    let end = start + 1;
    if (!this.#separateMutators.has(first.name)) while (end - start < size && this.#isNext(first, start, end)) end++;
    return this.#mutations.slice(start, end);
  }

  /**
   * Records that a batch has failed.
   * @param index the index in the batch of the mutation that failed; undefined if none did, or any of them may have
   */
  recordFailure(batch: readonly Mutation[], index: number | undefined): void {
    if (index === undefined) this.#sizes = batch.map(() => 1);
    else this.#sizes = index === 0 ? [1] : [index, 1];
  }

  #isNext(first: Mutation, start: number, index: number): boolean {
    const mutation = this.#mutations[index];
    return (
      mutation !== undefined &&
      mutation.clientID === first.clientID &&
      mutation.id === first.id + index - start &&
      !this.#separateMutators.has(mutation.name)
    );
  }
}
