import type {
  BaseCollectionConfig,
  CollectionConfig,
  DeleteMutationFnParams,
  InsertMutationFnParams,
  NonSingleResult,
  UpdateMutationFnParams,
} from '@tanstack/db';
import type { Client } from '../create-client.js';
import { keyText } from '../rows/keys.js';
import type { RowOf, ViewArgs } from '../server-types.js';
import type { AnyViews, Key } from '../types.js';
import type { Ttl } from '../wants/wants.js';
import type { IfOneCopy, OneCopy } from './one-copy.js';
import type { OrderField } from './requested-instances.js';
import { syncOnDemand } from './sync-on-demand.js';
import { syncView } from './sync-view.js';
import { withoutMark } from './unconfirmed-mark.js';

/** The type of a view's rows. They must be objects, because collections hold only objects. */
export type RowObject<Row> = unknown extends Row ? object : Row extends object ? Row : never;

/** The options of `tidemarkCollectionOptions`: its own, and those of all collections of TanStack DB. */
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
  /** Returns the key of a row, as `client.view(name).get` takes it. */
  readonly getKey: (row: Row) => Key;
  /** Called after `collection.insert`. It should insert the rows through mutators, and return their promise. */
  readonly onInsert?: (params: InsertMutationFnParams<Row, string>) => Promise<unknown>;
  /** Called after `collection.update`. It should update the rows through mutators, and return their promise. */
  readonly onUpdate?: (params: UpdateMutationFnParams<Row, string>) => Promise<unknown>;
  /** Called after `collection.delete`. It should delete the rows through mutators, and return their promise. */
  readonly onDelete?: (params: DeleteMutationFnParams<Row, string>) => Promise<unknown>;
}

/** The options of a collection whose view has arguments: it syncs what queries ask for. */
export interface OnDemandConfig<Args> {
  readonly syncMode: 'on-demand';
  /** The view's arguments. Each query must fix the fields of the same names, by `eq` or `inArray`. */
  readonly args: readonly (keyof Args & string)[];
  /**
   * Returns further arguments for a query with `limit`: those by which the server sends only the first rows, given their
   * number and order. Default: the server sends all rows that the other arguments select.
   */
  readonly limitArgs?: ((limit: number, order: readonly OrderField[]) => Partial<Args>) | undefined;
  /** The time for which rows stay synced after the last query that needs them ends. Default: 300,000 ms. */
  readonly ttl?: Ttl | undefined;
}

/** The options that only a view with arguments has. */
export type OnDemandOptions<View> = [ViewArgs<View>] extends [never]
  ? { readonly [Option in keyof OnDemandConfig<unknown>]?: undefined }
  : unknown extends ViewArgs<View>
    ? Partial<OnDemandConfig<Record<string, unknown>>>
    : OnDemandConfig<ViewArgs<View>>;

/** The argument of `createCollection` of TanStack DB. The keys of the rows are strings. */
export type TidemarkCollectionOptions<Row extends object> = CollectionConfig<Row, string> & {
  readonly schema?: never;
} & NonSingleResult;

/**
 * Returns options for `createCollection` of TanStack DB: the collection has the rows of a client's view. The client
 * stores the mutations of the handlers and shows their effects until the server's result replaces them. So a handler is
 * done when its mutators are, before the client sends anything. Rows with such effects have `$synced: false`.
 */
export function tidemarkCollectionOptions<Mutators, Views extends AnyViews, Name extends keyof Views & string>(
  config: TidemarkCollectionConfig<Mutators, Views, Name> & OnDemandOptions<Views[Name]> & OneCopy,
): IfOneCopy<TidemarkCollectionOptions<RowObject<RowOf<Views[Name]>>>> {
  type Row = RowObject<RowOf<Views[Name]>>;
  const {
    client,
    view,
    getKey: keyOf,
    onInsert,
    onUpdate,
    onDelete,
    args,
    limitArgs,
    ttl,
    ...baseConfig
  } = config as TidemarkCollectionConfig<Mutators, Views, Name> & Partial<OnDemandConfig<Record<string, unknown>>>;
  const getKey = (row: Row) => keyText(keyOf(row));
  return {
    ...baseConfig,
    getKey,
    sync: args ? syncOnDemand(client, view, getKey, { args, limitArgs, ttl }) : syncView(client, view, getKey),
    ...(onInsert && { onInsert: handler(onInsert) }),
    ...(onUpdate && { onUpdate: handler(onUpdate) }),
    ...(onDelete && { onDelete: handler(onDelete) }),
  };
}

interface Changes {
  readonly transaction: { readonly mutations: readonly { original: object; modified: object }[] };
}

/** Wraps a handler for a collection, so that the handler receives rows as they are in the view. */
function handler<Params extends Changes>(run: (params: Params) => Promise<unknown>): (params: Params) => Promise<void> {
  return async (params) => {
    for (const mutation of params.transaction.mutations) {
      mutation.original = withoutMark(mutation.original);
      mutation.modified = withoutMark(mutation.modified);
    }
    await run(params);
  };
}
