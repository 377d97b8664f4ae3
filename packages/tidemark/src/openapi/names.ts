/** Assigns unique names. The same calls in the same order yield the same names. */
export class UniqueNames {
  readonly #usedNames: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.#usedNames = new Set(reserved);
  }

  /** Takes the first candidate that is free, or else the last candidate with a number. */
  take(...candidates: readonly [string, ...string[]]): string {
    let name = candidates.find((candidate) => !this.#usedNames.has(candidate));
    for (let number = 2; name === undefined; number += 1) {
      const candidate = `${candidates.at(-1)}${number}`;
      if (!this.#usedNames.has(candidate)) name = candidate;
    }
    this.#usedNames.add(name);
    return name;
  }
}

/**
 * Turns a text into an identifier of ASCII letters and digits: `todo.create` becomes `todoCreate`.
 * @param otherwise the first word if the text does not begin with a letter
 */
export function toCamelCase(text: string, otherwise: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  if (!/^[A-Za-z]/.test(words[0] ?? '')) words.unshift(otherwise);
  return words.map((word, index) => (index === 0 ? lowerFirst(word) : upperFirst(word))).join('');
}

/** Capitalizes the first letter. */
export function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
