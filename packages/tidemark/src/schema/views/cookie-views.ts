/** Compares the views of a client's cookie with its current views. Pure. */
import { SetupError } from '../../errors.js';
import type { CookieFields } from '../../protocol/cookie.js';
import { openParameters } from '../../protocol/parameters.js';
import type { InstanceChange } from '../../store/patches/instance-change.js';
import type { RemovedView } from '../../store/patches/view-set-change.js';
import type { ResolvedView } from '../../view/client-views.js';
import { diffInstances, type InstanceTexts } from '../../view/instances/instances.js';
import { instanceParameters, instancesIn } from '../../view/served-view.js';
import type { SchemaState } from '../schema-state.js';
import { type Digests, keysDigest, schemaHashesOf, textsOf, viewDigest } from './digests.js';

/** One of the views of a cookie. */
export interface CookieView {
  readonly digest: string;
  /** The values of its parameters. */
  readonly texts: readonly (string | null)[];
}

/** How the views of a cookie correspond to the current views. */
export interface ViewMatch {
  /** For each current view: its index among the cookie's views; undefined if the cookie does not have it. */
  readonly indexes: readonly (number | undefined)[];
  /** The cookie's views that are no longer current. */
  readonly removed: readonly CookieView[];
  /** The current views, by index, of which the cookie has other instances. */
  readonly instanceChanges: ReadonlyMap<number, InstanceChange>;
}

/** The difference between a cookie's views and the current views. */
export interface ViewSetDifference extends Pick<ViewMatch, 'indexes' | 'instanceChanges'> {
  /** The cookie's views that are no longer current, as far as they can be read. */
  readonly removed: readonly RemovedView[];
  /**
   * Covers the tables of both. `tableIDs` lists only tables of the cookie's views, since only their changes matter. For
   * a standby it lists all, because the new cookie lists what the standby has seen of the tables in `tableIDs`.
   */
  readonly schema: SchemaState;
  /** The current schema hashes of the tables that the cookie's views read. */
  readonly schemaHashes: string;
}

/**
 * Matches the views of a cookie with the current views. A view's digest covers its name, so no two views are equal. The
 * checksums of a consistency check are those of whole views, so with one, other instances make another view.
 * @returns undefined if no view is the same, or if the cookie's parameters cannot be read
 */
export function matchViews(
  cookie: Pick<CookieFields, 'views' | 'parameters' | 'consistencyCheck'>,
  resolved: Pick<Digests, 'viewDigests'> & { readonly views: readonly ResolvedView[] },
  userID: string,
  secrets: SchemaState['secrets'],
): ViewMatch | undefined {
  const [cookieUser, , ...before] = cookie.views.split('.');
  const [user, , ...now] = resolved.viewDigests.split('.');
  if (cookieUser !== user || cookie.parameters === undefined) return undefined;
  const texts = openParameters(cookie.parameters, userID, secrets);
  if (texts?.length !== before.length) return undefined;
  const cookieViews = before.map((digest, i): CookieView => ({ digest, texts: texts[i]! }));
  const viewKeys = textsOf(resolved.views).map((viewTexts, i) => JSON.stringify([now[i], viewTexts]));
  const indexes = new Map(
    cookieViews.map(({ digest, texts: viewTexts }, i) => [JSON.stringify([digest, viewTexts]), i]),
  );
  const sameIndexes = viewKeys.map((key) => indexes.get(key));
  const instanceChanges = new Map<number, InstanceChange>();
  const matchedIndexes = sameIndexes.map((same, i) => {
    const { instances } = resolved.views[i]!;
    if (same !== undefined || !instances || cookie.consistencyCheck !== null) return same;
    const index = cookieViews.findIndex(({ digest }) => digest === now[i]);
    if (index < 0) return undefined;
    instanceChanges.set(i, instanceChangeOf(resolved.views[i]!, instances, cookieViews[index]!));
    return index;
  });
  if (matchedIndexes.every((index) => index === undefined)) return undefined;
  const removed = cookieViews.filter((_, i) => !matchedIndexes.includes(i));
  return { indexes: matchedIndexes, removed, instanceChanges };
}

function instanceChangeOf(
  { view, texts }: ResolvedView,
  instances: readonly InstanceTexts[],
  cookieView: CookieView,
): InstanceChange {
  const { common, added, removed } = diffInstances(instancesIn(view, cookieView.texts), instances);
  const prefix = view.prefix === undefined ? (texts.at(-1) ?? '') : undefined;
  const literalsOf = (some: readonly InstanceTexts[]) =>
    some.length === 0 ? undefined : instanceParameters(view, some, prefix).literals;
  return { common: literalsOf(common), added: literalsOf(added), removed: literalsOf(removed) };
}

/** A view of a cookie, prepared against the current tables. */
export interface ReadableView extends ResolvedView {
  /** Its `keysDigest` at the time it was served. */
  readonly keysDigest: string;
}

/**
 * Returns the difference between a cookie's views and the current views.
 * @param readableViews the removed views
 * @param schema with the tables of all these views
 * @param isStandby true if the database is a standby
 * @returns undefined if neither the rows nor the keys of a removed view can be read
 */
export function diffViewSet(
  { indexes, removed: cookieViews, instanceChanges }: ViewMatch,
  views: readonly ResolvedView[],
  readableViews: readonly ReadableView[],
  schema: SchemaState,
  isStandby: boolean,
): ViewSetDifference | undefined {
  const { tables } = schema;
  const removed = readableViews.flatMap((view, i) => {
    const readable = readableOf(view, cookieViews[i]!, tables);
    return readable ? [{ ...view, readable }] : [];
  });
  if (removed.length < readableViews.length) return undefined;
  const before = [...views.filter((_, i) => indexes[i] !== undefined), ...removed].flatMap((view) => view.tables);
  const oids = new Set(before.map(({ oid }) => oid));
  const tablesBefore = tables.filter(({ oid }) => oids.has(oid));
  return {
    indexes,
    removed,
    instanceChanges,
    schema: { ...schema, tableIDs: (isStandby ? tables : tablesBefore).map(({ id }) => id) },
    schemaHashes: schemaHashesOf(tablesBefore),
  };
}

/**
 * Returns what the current tables and the change log can show of a removed view at the cookie's snapshot: `rows` if
 * nothing that the view reads was altered since, `keys` if only columns that do not decide its keys were.
 */
function readableOf(
  view: ReadableView,
  { digest }: CookieView,
  tables: SchemaState['tables'],
): RemovedView['readable'] | undefined {
  if (viewDigest(view, tables) === digest) return 'rows';
  return keysDigest(view, tables) === view.keysDigest ? 'keys' : undefined;
}

/** Returns the result of `work`; null if a view cannot be served. */
export async function unlessRefused<T>(work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}
