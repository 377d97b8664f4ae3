import type {
  BaseCollectionConfig,
  CollectionConfig,
  DeleteMutationFnParams,
  InsertMutationFnParams,
  NonSingleResult,
  UpdateMutationFnParams,
} from '@tanstack/db';
import type { Client } from '../client/create-client.js';
import { keyText } from '../client/rows/keys.js';
import type { AnyViews, Key } from '../client/types.js';
import type { RowOf } from '../view/define.js';
import type { IfOneCopy, OneCopy } from './one-copy.js';
import { syncView } from './sync-view.js';
import { withoutMark } from './unconfirmed-mark.js';

/** The rows of a view, which must be objects: collections hold nothing else. */
export type RowObject<Row> = unknown extends Row ? object : Row extends object ? Row : never;

/** What `tidemarkCollectionOptions` takes: besides its own options, those that all collections of TanStack DB have. */
export interface TidemarkCollectionConfig<
  Mutators,
  Views extends AnyViews,
  Name extends keyof Views & string,
  Row extends object = RowObject<RowOf<Views[Name]>>,
> extends Omit<
    BaseCollectionConfig<Row, string>,
    'getKey' | 'onDelete' | 'onInsert' | 'onUpdate' | 'schema' | 'syncMode'
  > {
  readonly client: Client<Mutators, Views>;
  /** The name of the view. */
  readonly view: Name;
  /** The key of a row, as `client.view(name).get` takes it. */
  readonly getKey: (row: Row) => Key;
  /** Called with what `collection.insert` has inserted. Returns what mutators of the client that do it return. */
  readonly onInsert?: (params: InsertMutationFnParams<Row, string>) => Promise<unknown>;
  /** Called with what `collection.update` has changed. Returns what mutators of the client that do it return. */
  readonly onUpdate?: (params: UpdateMutationFnParams<Row, string>) => Promise<unknown>;
  /** Called with what `collection.delete` has deleted. Returns what mutators of the client that do it return. */
  readonly onDelete?: (params: DeleteMutationFnParams<Row, string>) => Promise<unknown>;
}

/** What `createCollection` of TanStack DB takes. The keys of the rows are text. */
export type TidemarkCollectionOptions<Row extends object> = CollectionConfig<Row, string> & {
  readonly schema?: never;
} & NonSingleResult;

/**
 * Options for `createCollection` of TanStack DB: the rows of a view of a client. What the handlers do is kept by the
 * client, which shows its effect until the server has had the last word; so a handler is done when its mutators are,
 * before anything is sent. Of rows with such effects, `$synced` is false.
 */
export function tidemarkCollectionOptions<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  config: TidemarkCollectionConfig<Mutators, Views, Name> & OneCopy,
): IfOneCopy<TidemarkCollectionOptions<RowObject<RowOf<Views[Name]>>>> {
  type Row = RowObject<RowOf<Views[Name]>>;
  const { client, view, getKey: keyOf, onInsert, onUpdate, onDelete, ...others } = config;
  const getKey = (row: Row) => keyText(keyOf(row));
  return {
    ...others,
    getKey,
    sync: syncView(client, view, getKey),
    ...(onInsert && { onInsert: handler(onInsert) }),
    ...(onUpdate && { onUpdate: handler(onUpdate) }),
    ...(onDelete && { onDelete: handler(onDelete) }),
  };
}

interface Changes {
  readonly transaction: { readonly mutations: readonly { original: object; modified: object }[] };
}

/** A handler as a collection takes it. It sees rows as they are in the view. */
function handler<Params extends Changes>(run: (params: Params) => Promise<unknown>): (params: Params) => Promise<void> {
  return async (params) => {
    for (const mutation of params.transaction.mutations) {
      mutation.original = withoutMark(mutation.original);
      mutation.modified = withoutMark(mutation.modified);
    }
    await run(params);
  };
}
