import { BoundedMap } from '../../bounded-map.js';
import { digest } from '../../protocol/cookie.js';
import type { Statement } from '../database.js';
import { isOfStatementName, isStalePlan } from '../sqlstate.js';

/**
 * The named statements of a pool. A pooler that lends each transaction any of its own connections to the server may not
 * know them: then a name is missing where it is used, or taken where it is given. That is found out once, by failing.
 */
export class NamedStatements {
  readonly #onUnknown: () => void;
  #areKnown = true;
  /** By text: most are run again and again. */
  readonly #digests = new BoundedMap<string, string>(1_000);

  /** @param onUnknown called once, if names turn out to be of no use */
  constructor(onUnknown: () => void = () => {}) {
    this.#onUnknown = onUnknown;
  }

  /**
   * The name to prepare a statement under, if there is to be one. It has a digest of the text: behind a pooler, another
   * version of this library may have prepared another text on the same connection.
   */
  nameOf({ name, text }: Statement): string | undefined {
    return name === undefined || !this.#areKnown ? undefined : `${name}_${this.#digestOf(text)}`;
  }

  /** Whether a statement has failed only because of its name. It may be run once more without. */
  areWhy(error: unknown): boolean {
    if (!isOfStatementName(error)) return isStalePlan(error);
    if (this.#areKnown) this.#onUnknown();
    this.#areKnown = false;
    return true;
  }

  #digestOf(text: string): string {
    const known = this.#digests.get(text);
    if (known !== undefined) return known;
    const made = digest([text]);
    this.#digests.set(text, made);
    return made;
  }
}
