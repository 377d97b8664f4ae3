/** For the browser: a client, typed by the server's mutators and views. */

export { ClientError } from './client-error.js';
export { type Client, createClient } from './create-client.js';
export type { Observable } from './observable.js';
export type { ClientOptions } from './options.js';
export type { Refusal } from './refusals.js';
export type { ClientView, RowChange } from './rows/view.js';
export type {
  KeyValueRead,
  KeyValueStore,
  KeyValueWrite,
  PendingMutation,
  ReadonlyJSON,
  StoreProvider,
} from './stores/types.js';
export type { Status } from './sync/status.js';
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
} from './types.js';
