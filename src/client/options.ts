import type { IndexDefinition } from '#engine';
import type { RowOf } from '../view/define.js';
import { ClientError } from './client-error.js';
import { fieldsOf, indexName } from './rows/keys.js';
import type { Place } from './rows/read.js';
import type { StoreProvider } from './stores/types.js';
import type { AnyViews, ClientMutators, Index } from './types.js';

/** The options of `createClient`. */
export interface ClientOptions<Mutators, Views extends AnyViews> {
  /** Who the user is. Each has a local database of their own, which the tabs of a browser share. */
  readonly user: string;
  /** The address of the server, with its `basePath`. Default: the page's own origin. */
  readonly url?: string | undefined;
  /** The `Authorization`, for example `Bearer …`. Default: none. */
  readonly auth?: string | undefined;
  /** Returns the `Authorization`, or null if there is none. Called if there is no `auth`, and when it is refused. */
  readonly getAuth?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** Whether cookies go to a server of another origin: `include`. Default: to the page's own. */
  readonly credentials?: RequestCredentials | undefined;
  /** What mutators do here at once, as a tree or by names with dots. Those without a function wait for the server. */
  readonly mutators?: ClientMutators<Mutators, Views> | undefined;
  /** The prefixes of the views that do not have the default one. */
  readonly prefixes?: { readonly [Name in keyof Views]?: string } | undefined;
  /** What rows of each view can be listed by: fields, and lists of fields. */
  readonly indexes?: { readonly [Name in keyof Views]?: readonly Index<RowOf<Views[Name]>>[] } | undefined;
  /** The version of the data's form that this code is for. Each has a local database of its own. Default: empty. */
  readonly schemaVersion?: string | undefined;
  /** Where the data is: IndexedDB, memory, or a store of your own. Default `idb`. */
  readonly kvStore?: 'idb' | 'mem' | StoreProvider | undefined;
  /** True to ask the browser to keep the data when disk space is short, which some ask the user about. Default false. */
  readonly persistentStorage?: boolean | undefined;
  /** How long to wait for a poke before pulling without one, in milliseconds; null for ever. Default 60,000. */
  readonly pullInterval?: number | null | undefined;
}

/** Options whose types no longer matter. */
export type AnyOptions = ClientOptions<never, AnyViews>;

/** @throws ClientError if the options do not say whose data it is. */
export function checkUser({ user }: AnyOptions): void {
  if (user) return;
  const todo = 'give createClient the option `user`, for example the ID of the account';
  throw new ClientError('no-user', `Whose data it is must be known. What to do: ${todo}.`);
}

/** @throws ClientError for what cannot work in this environment. */
export function checkPlatform({ url = '', kvStore = 'idb' }: AnyOptions): void {
  if (!url && !globalThis.location) {
    throw new ClientError('no-url', 'Outside of a page there is no origin. What to do: give createClient a `url`.');
  }
  if (kvStore === 'idb' && !globalThis.indexedDB) {
    const todo = "give createClient the option kvStore: 'mem', or a store of your own";
    throw new ClientError('no-indexeddb', `There is no IndexedDB here. What to do: ${todo}.`);
  }
}

/** Where the rows of a view are. */
export function placeOf({ prefixes = {}, indexes = {} }: AnyOptions, view: string): Place {
  return { view, prefix: prefixes[view] ?? `${view}/`, indexes: indexes[view] ?? [] };
}

/** The indexes as the engine takes them. */
export function engineIndexes(options: AnyOptions): Record<string, IndexDefinition> {
  return Object.fromEntries(
    Object.keys(options.indexes ?? {}).flatMap((view) => {
      const { prefix, indexes } = placeOf(options, view);
      return indexes.map((index) => [indexName(view, index), { prefix, jsonPointer: JSON.stringify(fieldsOf(index)) }]);
    }),
  );
}
