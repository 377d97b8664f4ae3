/** What the engine and applications both know: data, and where it is kept. */

/** A JSON value. */
export type ReadonlyJSON =
  | null
  | string
  | boolean
  | number
  | readonly ReadonlyJSON[]
  | { readonly [key: string]: ReadonlyJSON | undefined };

/** Where the engine keeps its data: stores of keys and values, by name. */
export interface StoreProvider {
  create(name: string): KeyValueStore;
  drop(name: string): Promise<void>;
}

/** A store of keys and values: memory, IndexedDB, or one of the application's. */
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
