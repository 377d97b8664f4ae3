import type { Mutation } from '../protocol/push.js';

/** The most mutations that share a transaction. */
const MOST = 100;

/**
 * Says which of a push's mutations share the next transaction. Usually as many as follow one another. When that has
 * failed, first those before the one that failed, and then that one alone.
 */
export class Runs {
  readonly #mutations: readonly Mutation[];
  readonly #apart: ReadonlySet<string>;
  #sizes: readonly number[] = [];

  /** @param apart the names of mutators that share no transaction */
  constructor(mutations: readonly Mutation[], apart: ReadonlySet<string>) {
    this.#mutations = mutations;
    this.#apart = apart;
  }

  /** The run that begins at this place: one mutation, or several of one client whose numbers follow one another. */
  next(start: number): readonly Mutation[] {
    const [size = MOST, ...later] = this.#sizes;
    this.#sizes = later;
    const first = this.#mutations[start]!;
    let end = start + 1;
    if (!this.#apart.has(first.name)) while (end - start < size && this.#isNext(first, start, end)) end++;
    return this.#mutations.slice(start, end);
  }

  /**
   * A run has failed.
   * @param place of the mutation that is to blame; undefined if none is, or any may be
   */
  failed(run: readonly Mutation[], place: number | undefined): void {
    if (place === undefined) this.#sizes = run.map(() => 1);
    else this.#sizes = place === 0 ? [1] : [place, 1];
  }

  #isNext(first: Mutation, start: number, place: number): boolean {
    const mutation = this.#mutations[place];
    return (
      mutation !== undefined &&
      mutation.clientID === first.clientID &&
      mutation.id === first.id + place - start &&
      !this.#apart.has(mutation.name)
    );
  }
}
