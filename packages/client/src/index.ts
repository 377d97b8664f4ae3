/** For the browser: a client, typed by the server's mutators and views. */

export { ClientError } from './client-error.js';
export { type Client, createClient } from './create-client.js';
export type { Observable } from './observable.js';
export type { ClientOptions } from './options.js';
export type { ClientView, RowChange, ViewState } from './rows/view.js';
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
  InstanceOptions,
  InstanceParameters,
  Key,
  KeyPart,
  ListOptions,
  Matches,
  Mutate,
  MutationCall,
  ReadTransaction,
  ReadView,
  Refusal,
  WriteView,
} from './types.js';
export type { WantRefusal } from './wants/answered.js';
export type { Ttl, WantOptions } from './wants/wants.js';
