import type { IndexDefinition } from '#engine';
import { ClientError } from './client-error.js';
import { fieldsOf, indexName } from './rows/keys.js';
import { fieldsMatch } from './rows/matches.js';
import type { StoredView } from './rows/read.js';
import type { AnyView, RowOf } from './server-types.js';
import type { StoreProvider } from './stores/types.js';
import type { AnyViews, ClientMutators, Index, InstanceOptions, Matches } from './types.js';
import { instanceText, wantOf } from './wants/instance.js';

/** The options of `createClient`. */
export interface ClientOptions<Mutators, Views extends AnyViews> {
  /** Identifies the user. Each user has a separate local database, which the tabs of a browser share. */
  readonly user: string;
  /** The address of the server, with its `basePath`. Default: the page's own origin. */
  readonly url?: string | undefined;
  /** The `Authorization`, for example `Bearer …`. Default: none. */
  readonly auth?: string | undefined;
  /** Returns the `Authorization`, or null for none. Called if there is no `auth`, and when the server refuses it. */
  readonly getAuth?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** Set to `include` to send cookies to a server of another origin. Default: only to the page's own origin. */
  readonly credentials?: RequestCredentials | undefined;
  /** The optimistic effects of mutators, as a tree or by dotted names. Other mutators wait for the server. */
  readonly mutators?: ClientMutators<Mutators, Views> | undefined;
  /** The key prefixes of the views that do not have the default one. */
  readonly prefixes?: { readonly [Name in keyof Views]?: string } | undefined;
  /** The indexes by which the rows of each view can be listed: fields, and lists of fields. */
  readonly indexes?: { readonly [Name in keyof Views]?: readonly Index<RowOf<Views[Name]>>[] } | undefined;
  /**
   * Functions that decide which local rows belong to an instance of a view, given the row and the arguments. Default: those
   * whose fields equal the arguments of the same names.
   */
  readonly matches?: { readonly [Name in keyof Views]?: Matches<Views[Name]> } | undefined;
  /** The schema version that this code expects. Each version has a separate local database. Default: empty. */
  readonly schemaVersion?: string | undefined;
  /** Where the data is kept: in IndexedDB, in memory, or in a store of your own. Default `idb`. */
  readonly kvStore?: 'idb' | 'mem' | StoreProvider | undefined;
  /** True to ask the browser to keep the data when disk space runs low. Some browsers ask the user. Default false. */
  readonly persistentStorage?: boolean | undefined;
  /** How long to wait for a poke before pulling without one, in milliseconds; null to wait forever. Default 60,000. */
  readonly pullInterval?: number | null | undefined;
}

/** The options of a client with any mutators and views. */
export type AnyOptions = ClientOptions<never, AnyViews>;

/** @throws ClientError if the options do not identify the user */
export function checkUser({ user }: AnyOptions): void {
  if (user) return;
  const todo = 'give createClient the option `user`, for example the ID of the account';
  throw new ClientError('no-user', `Whose data it is must be known. What to do: ${todo}.`);
}

/** @throws ClientError if the options cannot work in this environment */
export function checkPlatform({ url = '', kvStore = 'idb' }: AnyOptions): void {
  if (!url && !globalThis.location) {
    throw new ClientError('no-url', 'Outside of a page there is no origin. What to do: give createClient a `url`.');
  }
  if (kvStore === 'idb' && !globalThis.indexedDB) {
    const todo = "give createClient the option kvStore: 'mem', or a store of your own";
    throw new ClientError('no-indexeddb', `There is no IndexedDB here. What to do: ${todo}.`);
  }
}

/** Returns the key prefix and the indexes of a view. */
export function storedViewOf({ prefixes = {}, indexes = {} }: AnyOptions, view: string): StoredView {
  return { view, prefix: prefixes[view] ?? `${view}/`, indexes: indexes[view] ?? [] };
}

/** Returns an instance of a view as it is stored. */
export function storedInstanceOf(
  options: AnyOptions,
  view: string,
  args: unknown,
  { matches = options.matches?.[view] }: InstanceOptions<AnyView> = {},
): StoredView {
  const text = instanceText(view, args);
  const { args: sentArgs } = wantOf(text);
  const instance = { text, matches: matches ? (row: unknown) => matches(row, sentArgs) : fieldsMatch(view, sentArgs) };
  return { ...storedViewOf(options, view), instance };
}

/** Converts the indexes of all views to those of the engine. */
export function engineIndexes(options: AnyOptions): Record<string, IndexDefinition> {
  return Object.fromEntries(
    Object.keys(options.indexes ?? {}).flatMap((view) => {
      const { prefix, indexes } = storedViewOf(options, view);
      return indexes.map((index) => [indexName(view, index), { prefix, jsonPointer: JSON.stringify(fieldsOf(index)) }]);
    }),
  );
}
