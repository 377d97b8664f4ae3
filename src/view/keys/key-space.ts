/** The keys of all views in one client view: none may be a key of two views. Pure. */
import { BoundedMap } from '../../bounded-map.js';
import { SetupError } from '../../errors.js';
import type { View } from '../define.js';
import { inView } from '../in-view.js';
import { canMeet, describeKeys, type KeyPattern, patternOf } from './patterns.js';
import { commonPrefix } from './prefixes.js';

type Views = Readonly<Record<string, View<never>>>;

/** A view, and what one user's keys start with; undefined if it is the same for everyone. */
export interface UserPrefix {
  readonly name: string;
  readonly prefix?: string | undefined;
}

interface Place {
  readonly name: string;
  readonly isOwn: boolean;
  /** Undefined if it depends on the user. */
  readonly prefix: string | undefined;
  readonly pattern: KeyPattern;
}

/** Names and keys that begin like this belong to Tidemark's own views. */
const reserved = 'tidemark/';

/** How many users' prefixes are remembered to have been checked. */
const keptPrefixes = 1000;

export class KeySpace {
  readonly #places: readonly Place[];
  readonly #checked = new BoundedMap<string, true>(keptPrefixes);
  readonly #dependsOnUser: boolean;

  /**
   * @param own views of Tidemark's own, besides the application's
   * @throws SetupError if a view has no keys, or as `check`, whoever the user is.
   */
  constructor(views: Views, own: Views = {}) {
    this.#places = Object.entries({ ...views, ...own }).map(([name, view]) =>
      inView(name, () => ({
        name,
        isOwn: Object.hasOwn(own, name),
        prefix: commonPrefix(name, view),
        pattern: patternOf(view),
      })),
    );
    this.#dependsOnUser = this.#places.some(({ prefix }) => prefix === undefined);
    this.#checkAll(new Map());
  }

  /**
   * Checks the keys of one user.
   * @param prefixes those that depend on the user; other views with such a prefix are left out
   * @throws SetupError that names a view with reserved keys, or two views that could share keys.
   */
  check(prefixes: readonly UserPrefix[]): void {
    if (!this.#dependsOnUser) return;
    const found = prefixes.filter(({ prefix }) => prefix !== undefined);
    const id = JSON.stringify(found.map(({ name, prefix }) => [name, prefix]));
    if (this.#checked.get(id)) return;
    this.#checkAll(new Map(found.map(({ name, prefix }) => [name, prefix])));
    this.#checked.set(id, true);
  }

  #checkAll(theirs: ReadonlyMap<string, string | undefined>): void {
    const known = this.#places.flatMap((place) => {
      const prefix = place.prefix ?? theirs.get(place.name);
      return prefix === undefined ? [] : [{ ...place, prefix }];
    });
    for (const [i, one] of known.entries()) {
      checkNotReserved(one);
      const other = known.slice(i + 1).find((candidate) => canMeet(one, candidate));
      if (other) {
        const keys = [one, other].map((place) => `"${describeKeys(place)}"`).join(' and ');
        throw new SetupError(
          `The views "${one.name}" and "${other.name}" could share keys: ${keys}. Give one of them another prefix, or fixed text where the other has other text.`,
        );
      }
    }
  }
}

function checkNotReserved({ name, isOwn, prefix, pattern }: Place & { readonly prefix: string }): void {
  const isReserved = name.startsWith(reserved) || `${prefix}${pattern.texts[0]}`.startsWith(reserved);
  if (isOwn || !isReserved) return;
  throw new SetupError(
    `The view "${name}" cannot be served: names and keys that begin with "${reserved}" are reserved. Choose another.`,
  );
}
