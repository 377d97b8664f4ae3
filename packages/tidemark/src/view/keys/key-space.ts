/** Checks the keys of all views in one client view, since no key may belong to two views. Pure. */
import { BoundedMap } from '../../bounded-map.js';
import { SetupError } from '../../errors.js';
import type { View } from '../define.js';
import { inView } from '../in-view.js';
import { canOverlap, describeKeys, type KeyPattern, patternOf } from './patterns.js';
import { commonPrefix } from './prefixes.js';

type Views = Readonly<Record<string, View<never>>>;

/** A view and the prefix of one user's keys; undefined if it is the same for all users. */
export interface UserPrefix {
  readonly name: string;
  readonly prefix?: string | undefined;
}

interface ViewKeys {
  readonly name: string;
  readonly isOwn: boolean;
  /** Undefined if it depends on the user. */
  readonly prefix: string | undefined;
  readonly pattern: KeyPattern;
}

/** Names and keys with this prefix belong to Tidemark's own views. */
const reserved = 'tidemark/';

/** The number of users' prefixes remembered as checked. */
const maxPrefixes = 1000;

export class KeySpace {
  readonly #views: readonly ViewKeys[];
  readonly #checked = new BoundedMap<string, true>(maxPrefixes);
  readonly #dependsOnUser: boolean;

  /**
   * @param ownViews Tidemark's own views, in addition to the application's
   * @throws SetupError if a view's key is invalid, or `check` would refuse the views for every user.
   */
  constructor(views: Views, ownViews: Views = {}) {
    this.#views = Object.entries({ ...views, ...ownViews }).map(([name, view]) =>
      inView(name, () => ({
        name,
        isOwn: Object.hasOwn(ownViews, name),
        prefix: commonPrefix(name, view),
        pattern: patternOf(view),
      })),
    );
    this.#dependsOnUser = this.#views.some(({ prefix }) => prefix === undefined);
    this.#checkAll(new Map());
  }

  /**
   * Checks the keys of one user.
   * @param prefixes the prefixes that depend on the user. Other views with such a prefix are left out
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

  #checkAll(userPrefixes: ReadonlyMap<string, string | undefined>): void {
    const prefixedViews = this.#views.flatMap((view) => {
      const prefix = view.prefix ?? userPrefixes.get(view.name);
      return prefix === undefined ? [] : [{ ...view, prefix }];
    });
    for (const [i, one] of prefixedViews.entries()) {
      checkNotReserved(one);
      const other = prefixedViews.slice(i + 1).find((candidate) => canOverlap(one, candidate));
      if (other) {
        const keys = [one, other].map((view) => `"${describeKeys(view)}"`).join(' and ');
        throw new SetupError(
          `The views "${one.name}" and "${other.name}" could share keys: ${keys}. Give one of them another prefix, or fixed text where the other has other text.`,
        );
      }
    }
  }
}

function checkNotReserved({ name, isOwn, prefix, pattern }: ViewKeys & { readonly prefix: string }): void {
  const isReserved = name.startsWith(reserved) || `${prefix}${pattern.texts[0]}`.startsWith(reserved);
  if (isOwn || !isReserved) return;
  throw new SetupError(
    `The view "${name}" cannot be served: names and keys that begin with "${reserved}" are reserved. Choose another.`,
  );
}
