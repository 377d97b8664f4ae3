/** Hands out names, each only once. The same requests in the same order yield the same names. */
export class UniqueNames {
  readonly #taken: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set(reserved);
  }

  /** Takes the first of the wanted names that is free, or else the last of them with a number. */
  take(...wanted: readonly [string, ...string[]]): string {
    let name = wanted.find((candidate) => !this.#taken.has(candidate));
    for (let number = 2; name === undefined; number += 1) {
      const candidate = `${wanted.at(-1)}${number}`;
      if (!this.#taken.has(candidate)) name = candidate;
    }
    this.#taken.add(name);
    return name;
  }
}

/**
 * Turns any text into an identifier of ASCII letters and digits: `todo.create` becomes `todoCreate`.
 * @param otherwise the first word, if the text does not begin with a letter
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
