import { BoundedMap } from '../../bounded-map.js';
import { digest } from '../../protocol/cookie.js';
import type { ViewQuery } from '../../view/client-views.js';

/** The number of query texts that have a short name. */
const maxTexts = 1000;

/** Makes short keys that identify users' queries. */
export class QueryKeys {
  /** The short names of query texts. */
  readonly #texts = new BoundedMap<string, number>(maxTexts);
  #newest = 0;
  readonly #instances = new WeakMap<object, string>();

  /**
   * Returns a key for a user's queries; undefined if a value is an object, because the driver may write two objects
   * differently that are the same in JSON.
   */
  keyOf(userID: string, queries: readonly ViewQuery[]): string | undefined {
    const parts: unknown[] = [userID];
    for (const { name, text, values, instances, key, prefix } of queries) {
      if (!values.every(isPlain)) return undefined;
      const instancesKey = instances && this.#keyOfInstances(instances);
      if (instances && instancesKey === undefined) return undefined;
      parts.push(name, this.#nameOf(text), values, instancesKey, key, prefix);
    }
    return JSON.stringify(parts);
  }

  /** Returns a digest of the values of instances; undefined if one is an object. */
  #keyOfInstances(instances: readonly (readonly unknown[])[]): string | undefined {
    const known = this.#instances.get(instances);
    if (known !== undefined) return known;
    if (!instances.every((values) => values.every(isPlain))) return undefined;
    const key = digest([JSON.stringify(instances)]);
    this.#instances.set(instances, key);
    return key;
  }

  #nameOf(text: string): number {
    const shortName = this.#texts.get(text);
    if (shortName !== undefined) return shortName;
    this.#texts.set(text, ++this.#newest);
    return this.#newest;
  }
}

/** True if the driver writes such values the same whenever they are the same in JSON. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
}
