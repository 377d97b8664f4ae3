/** For the browser: a client, typed by the server's mutators and views. */

export { ClientError } from './client/client-error.js';
export { type Client, createClient } from './client/create-client.js';
export type { Observable } from './client/observable.js';
export type { ClientOptions } from './client/options.js';
export type { Refusal } from './client/refusals.js';
export type { ClientView, RowChange } from './client/rows/view.js';
export type {
  KeyValueRead,
  KeyValueStore,
  KeyValueWrite,
  PendingMutation,
  ReadonlyJSON,
  StoreProvider,
} from './client/stores/types.js';
export type { Status } from './client/sync/status.js';
export type {
  AnyViews,
  ClientMutator,
  ClientMutators,
  ClientTransaction,
  CountOptions,
  Fields,
  Index,
  IndexedRow,
  IndexField,
  IndexValue,
  Key,
  KeyPart,
  ListOptions,
  Mutate,
  ReadTransaction,
  ReadView,
  WriteView,
} from './client/types.js';
