import { BoundedMap } from '../bounded-map.js';
import type { ViewQuery } from '../view/client-views.js';

/** How many texts of queries have a short name. */
const keptTexts = 1000;

/** Identifies users' queries, by short texts. */
export class QueryKeys {
  /** Short names for the texts of queries. */
  readonly #texts = new BoundedMap<string, number>(keptTexts);
  #newest = 0;

  /**
   * Identifies a user's queries. Undefined if a value is an object: the driver may write two of them differently that
   * are the same in JSON.
   */
  keyOf(userID: string, queries: readonly ViewQuery[]): string | undefined {
    const parts: unknown[] = [userID];
    for (const { name, text, values, key, prefix } of queries) {
      if (!values.every(isPlain)) return undefined;
      parts.push(name, this.#nameOf(text), values, key, prefix);
    }
    return JSON.stringify(parts);
  }

  #nameOf(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, ++this.#newest);
    return this.#newest;
  }
}

/** Whether the driver writes two such values alike only if they are alike in JSON. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
}
