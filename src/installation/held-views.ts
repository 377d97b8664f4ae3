/** The views that a client holds, by its cookie, beside those that it is to hold. Pure. */
import { SetupError } from '../errors.js';
import type { CookieFields } from '../protocol/cookie.js';
import { openParameters } from '../protocol/parameters.js';
import type { GoneView } from '../store/patches/turnover.js';
import type { BoundView } from '../view/client-views.js';
import { type Digests, keysDigest, shapesOf, textsOf, viewDigest } from './digests.js';
import type { Installation } from './installation.js';

/** One view that a client holds. */
export interface HeldView {
  readonly digest: string;
  /** Its parameters. */
  readonly texts: readonly (string | null)[];
}

/** The views that a client holds, beside those that it is to hold. */
export interface Matched {
  /** For each view that it is to hold: where it is among those that it holds; undefined if it does not hold it. */
  readonly places: readonly (number | undefined)[];
  /** Those that it holds, and is not to hold any more. */
  readonly gone: readonly HeldView[];
}

/** What a client is to hold in place of what a cookie says. */
export interface ChangedViews extends Pick<Matched, 'places'> {
  /** The views that it holds, and is not to hold any more. */
  readonly gone: readonly GoneView[];
  /** As far as it concerns the views of the cookie, and those of now. What is logged only matters to the former. */
  readonly installation: Installation;
  /** The shapes of the tables that the cookie's views read, and those of now. */
  readonly shapes: string;
}

/**
 * Compares the views that a cookie is for with those of now. The name of a view is in its digest, so no two are the same.
 * @returns undefined if none is the same, or it cannot be told
 */
export function matchViews(
  cookie: Pick<CookieFields, 'views' | 'parameters'>,
  bound: Pick<Digests, 'viewDigests'> & { readonly views: readonly BoundView[] },
  userID: string,
  secrets: Installation['secrets'],
): Matched | undefined {
  const [who, , ...before] = cookie.views.split('.');
  const [user, , ...now] = bound.viewDigests.split('.');
  if (who !== user || cookie.parameters === undefined) return undefined;
  const texts = openParameters(cookie.parameters, userID, secrets);
  if (texts?.length !== before.length) return undefined;
  const held = before.map((digest, i): HeldView => ({ digest, texts: texts[i]! }));
  const wanted = textsOf(bound.views).map((own, i) => JSON.stringify([now[i], own]));
  const places = new Map(held.map(({ digest, texts: own }, i) => [JSON.stringify([digest, own]), i]));
  const found = wanted.map((key) => places.get(key));
  if (found.every((place) => place === undefined)) return undefined;
  return { places: found, gone: held.filter((_, i) => !found.includes(i)) };
}

/** A view that a client holds, as it reads the tables of now. */
export interface ReadView extends BoundView {
  /** The digest of what decided its keys when it was served; undefined if that is not known. */
  readonly keysDigest: string;
}

/**
 * What a client is to hold in place of what it holds.
 * @param read the views that are gone
 * @param installation with the tables of all these views
 * @returns undefined if nothing can be told of one that is gone
 */
export function changedViews(
  { places, gone: held }: Matched,
  views: readonly BoundView[],
  read: readonly ReadView[],
  installation: Installation,
): ChangedViews | undefined {
  const { tables } = installation;
  const gone = read.flatMap((view, i) => {
    const told = toldOf(view, held[i]!, tables);
    return told ? [{ ...view, told }] : [];
  });
  if (gone.length < read.length) return undefined;
  const before = [...views.filter((_, i) => places[i] !== undefined), ...gone].flatMap((view) => view.tables);
  const oids = new Set(before.map(({ oid }) => oid));
  const shaped = tables.filter(({ oid }) => oids.has(oid));
  return {
    places,
    gone,
    installation: { ...installation, tableIDs: shaped.map(({ id }) => id) },
    shapes: shapesOf(shaped),
  };
}

/**
 * What the tables of now, and the change log, tell of a view as it was. If it is served now as it was then: its rows. If
 * only what its values are made of has been altered since: its keys.
 */
function toldOf(view: ReadView, { digest }: HeldView, tables: Installation['tables']): GoneView['told'] | undefined {
  if (viewDigest(view, tables) === digest) return 'rows';
  return keysDigest(view, tables) === view.keysDigest ? 'keys' : undefined;
}

/** What work returns; null if a view cannot be served. */
export async function unlessRefused<T>(work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}
