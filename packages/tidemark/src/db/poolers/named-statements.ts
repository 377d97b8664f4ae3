import { BoundedMap } from '../../bounded-map.js';
import type { Logger } from '../../log.js';
import { digest } from '../../protocol/cookie.js';
import type { Statement } from '../database.js';
import { isOfStatementName, isStalePlan } from '../sqlstate.js';

const noPreparedStatements = 'The pooler in front of Postgres keeps no prepared statements: from now on there are none';

/**
 * The named statements of a pool. A pooler that assigns each transaction any of its server connections may not track
 * them. A name is then missing where it is used, or taken where it is assigned. The first such failure turns names off.
 */
export class NamedStatements {
  readonly #log: Pick<Logger, 'info'> | undefined;
  #areUsable = true;
  /** By text, because most statements run repeatedly. */
  readonly #digests = new BoundedMap<string, string>(1_000);

  /** @param log receives one line if names turn out to be unusable */
  constructor(log?: Pick<Logger, 'info'>) {
    this.#log = log;
  }

  /**
   * Returns the name to prepare a statement under, if any. It contains a digest of the text: behind a pooler, another
   * version of this library may have prepared another text on the same connection.
   */
  nameOf({ name, text }: Statement): string | undefined {
    return name === undefined || !this.#areUsable ? undefined : `${name}_${this.#digestOf(text)}`;
  }

  /** Returns true if a statement failed only because of its name. It can then run once more without a name. */
  areWhy(error: unknown): boolean {
    if (!isOfStatementName(error)) return isStalePlan(error);
    if (this.#areUsable) this.#log?.info({}, noPreparedStatements);
    this.#areUsable = false;
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
