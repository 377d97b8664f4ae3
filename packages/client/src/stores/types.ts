/** The types that the engine and applications share: data, and the stores that keep it. */

/** A JSON value. */
export type ReadonlyJSON =
  | null
  | string
  | boolean
  | number
  | readonly ReadonlyJSON[]
  | { readonly [key: string]: ReadonlyJSON | undefined };

/** Creates and deletes the key-value stores in which the engine keeps its data. */
export interface StoreProvider {
  create(name: string): KeyValueStore;
  drop(name: string): Promise<void>;
}

/** A key-value store: in memory, in IndexedDB, or provided by the application. */
export interface KeyValueStore {
  read(): Promise<KeyValueRead>;
  write(): Promise<KeyValueWrite>;
  close(): Promise<void>;
  readonly closed: boolean;
}

export interface KeyValueRead {
  has(key: string): Promise<boolean>;
  get(key: string): Promise<ReadonlyJSON | undefined>;
  release(): void;
  readonly closed: boolean;
}

export interface KeyValueWrite extends KeyValueRead {
  put(key: string, value: ReadonlyJSON): Promise<void>;
  del(key: string): Promise<void>;
  commit(): Promise<void>;
}

/** A mutation that no pull has confirmed. */
export interface PendingMutation {
  readonly id: number;
  readonly clientID: string;
  readonly name: string;
  readonly args: ReadonlyJSON;
}
