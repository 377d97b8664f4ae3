/** Random choices, from fast-check's generator. */
import type { Random } from 'fast-check';

export class Choices {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** For choices after which those to come are the same as without. */
  aside(): Choices {
    return new Choices(this.#random.clone());
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return this.#random.nextInt(low, high);
  }

  /** True so many times in a hundred. */
  percent(chance: number): boolean {
    return this.between(1, 100) <= chance;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  /** One of the items, each with its weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let left = this.between(
      1,
      items.reduce((sum, [weight]) => sum + weight, 0),
    );
    for (const [weight, item] of items) {
      left -= weight;
      if (left <= 0) return item;
    }
    throw new Error('there is nothing to choose from');
  }

  shuffled<T>(items: readonly T[]): T[] {
    const rest = [...items];
    return items.map(() => rest.splice(this.between(0, rest.length - 1), 1)[0]!);
  }

  /** Some of the items, at most so many, in a random order. */
  some<T>(items: readonly T[], most: number, least = 1): T[] {
    return this.shuffled(items).slice(0, this.between(Math.min(least, items.length), Math.min(most, items.length)));
  }

  times<T>(low: number, high: number, make: (i: number) => T): T[] {
    return Array.from({ length: this.between(low, high) }, (_, i) => make(i));
  }
}
