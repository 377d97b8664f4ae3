/** Random choices, based on fast-check's generator. */
import type { Random } from 'fast-check';

export class Choices {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** For additional choices that must not change the following ones. */
  aside(): Choices {
    return new Choices(this.#random.clone());
  }

  /** An integer, both ends included. */
  between(low: number, high: number): number {
    return this.#random.nextInt(low, high);
  }

  /** True with this percentage. */
  percent(chance: number): boolean {
    return this.between(1, 100) <= chance;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  /** One of the items, chosen by weight. */
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

  /** Some of the items, at most `max` of them, in a random order. */
  some<T>(items: readonly T[], max: number, min = 1): T[] {
    return this.shuffled(items).slice(0, this.between(Math.min(min, items.length), Math.min(max, items.length)));
  }

  times<T>(low: number, high: number, make: (i: number) => T): T[] {
    return Array.from({ length: this.between(low, high) }, (_, i) => make(i));
  }
}
