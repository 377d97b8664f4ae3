/** The part of the bundled sync engine that the client uses. `scripts/bundle-engine.mjs` creates the bundle. */
import type { KeyValueStore, KeyValueWrite, PendingMutation, ReadonlyJSON, StoreProvider } from './stores/types.js';

export interface ScanResult {
  values(): AsyncIterableIterator<ReadonlyJSON>;
  entries(): AsyncIterableIterator<readonly [key: string, value: ReadonlyJSON]>;
}

export interface ScanOptions {
  /** The index to scan instead of the keys. */
  readonly indexName?: string | undefined;
  /** The prefix of the keys. For an index, `indexPrefix` returns it. */
  readonly prefix?: string | undefined;
  /** The key after which the scan begins, in its direction. For an index, `indexKey` returns it. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
  readonly descending?: boolean | undefined;
}

export interface ReadTransaction {
  readonly clientID: string;
  get(key: string): Promise<ReadonlyJSON | undefined>;
  has(key: string): Promise<boolean>;
  scan(options?: ScanOptions): ScanResult;
}

export interface WriteTransaction extends ReadTransaction {
  readonly mutationID: number;
  readonly reason: 'initial' | 'rebase' | 'authoritative';
  /** Contains the transaction of the key-value store, except for a store in memory. */
  readonly dbtx: { readonly map: { readonly _dagRead: { readonly kvWrite?: KeyValueWrite } } };
  set(key: string, value: ReadonlyJSON): Promise<void>;
  del(key: string): Promise<boolean>;
}

export type MutatorFunction = (tx: WriteTransaction, args?: ReadonlyJSON) => Promise<unknown>;

export interface HTTPRequestInfo {
  readonly httpStatusCode: number;
  readonly errorMessage: string;
}

export interface PulledResult {
  readonly response?: unknown;
  readonly httpRequestInfo: HTTPRequestInfo;
}

/** A mutation as it is pushed. */
export interface PushedMutation {
  readonly id: number;
  readonly clientID: string;
  readonly name: string;
  readonly args: ReadonlyJSON;
  readonly timestamp: number;
}

export type Puller = (request: { readonly cookie: unknown }, requestID: string) => Promise<PulledResult>;
export type Pusher = (
  request: { readonly mutations: readonly PushedMutation[] },
  requestID: string,
) => Promise<PulledResult>;

export interface IndexDefinition {
  readonly prefix?: string | undefined;
  /** The names of the fields, as a JSON array. */
  readonly jsonPointer: string;
}

export type LogLevel = 'error' | 'info' | 'debug';

export interface LogSink {
  log(level: LogLevel, context: object | undefined, ...words: unknown[]): void;
}

export interface EngineOptions {
  readonly name: string;
  readonly mutators: Readonly<Record<string, MutatorFunction>>;
  readonly indexes?: Readonly<Record<string, IndexDefinition>> | undefined;
  readonly schemaVersion?: string | undefined;
  readonly kvStore: StoreProvider;
  readonly auth?: string | undefined;
  readonly pullURL?: string | undefined;
  readonly pushURL?: string | undefined;
  readonly puller?: Puller | undefined;
  readonly pusher?: Pusher | undefined;
  readonly pullInterval?: number | null | undefined;
  readonly pushDelay?: number | undefined;
  readonly requestOptions?: { readonly minDelayMs?: number; readonly maxDelayMs?: number } | undefined;
  readonly logLevel?: LogLevel | undefined;
  readonly logSinks?: LogSink[] | undefined;
}

/** The reason why the engine requires another version of the application. */
export interface UpdateNeededReason {
  readonly type: 'NewClientGroup' | 'VersionNotSupported';
  readonly versionType?: 'push' | 'pull' | 'schema' | undefined;
}

/** A change to an entry. */
export interface DiffOperation {
  readonly op: 'add' | 'change' | 'del';
  readonly key: string;
  readonly newValue?: ReadonlyJSON;
  readonly oldValue?: ReadonlyJSON;
}

type OnError = (error: unknown) => void;

export declare class ReplicacheImpl {
  constructor(options: EngineOptions);
  readonly name: string;
  readonly schemaVersion: string;
  readonly idbName: string;
  readonly clientID: string;
  readonly clientGroupID: Promise<string>;
  readonly profileID: Promise<string>;
  readonly closed: boolean;
  readonly memdag: Store;
  readonly perdag: Store;
  readonly mutate: Readonly<Record<string, (args?: ReadonlyJSON) => Promise<unknown>>>;
  auth: string;
  pullURL: string;
  pushURL: string;
  puller: Puller;
  pusher: Pusher;
  getAuth: (() => string | null | undefined | Promise<string | null | undefined>) | null | undefined;
  onClientStateNotFound: (() => void) | null;
  onUpdateNeeded: ((reason: UpdateNeededReason) => void) | null;
  /** The engine reads these before each request. */
  readonly requestOptions: { minDelayMs: number; maxDelayMs: number };
  pull(options?: { readonly now?: boolean | undefined }): Promise<void>;
  push(options?: { readonly now?: boolean | undefined }): Promise<void>;
  query<Result>(body: (tx: ReadTransaction) => Promise<Result> | Result): Promise<Result>;
  subscribe<Result>(
    body: (tx: ReadTransaction) => Promise<Result>,
    options: { readonly onData: (result: Result) => void; readonly onError: OnError },
  ): () => void;
  experimentalWatch(
    callback: (diff: readonly DiffOperation[]) => void,
    options: { readonly prefix: string; readonly initialValuesInFirstDiff: true; readonly onError: OnError },
  ): () => void;
  experimentalPendingMutations(): Promise<readonly PendingMutation[]>;
  /** Pulls. `syncHead` is `emptyHash` if there is nothing to apply. */
  beginPull(): Promise<{ readonly requestID: string; readonly syncHead: string; readonly ok: boolean }>;
  maybeEndPull(syncHead: string, requestID: string): Promise<void>;
  refresh(): Promise<void>;
  recoverMutations(): Promise<boolean> | undefined;
  persist(): Promise<void>;
  close(): Promise<void>;
  /** The constructor calls this once. `open` reads and writes the stores; all other operations wait for it. */
  protected opening(open: () => Promise<void>): Promise<void>;
}

/** A store of the engine's data, which is read and written in transactions. */
export interface Store {
  read(): Promise<StoreRead>;
  write(): Promise<StoreWrite>;
  close(): Promise<void>;
}

export interface StoreRead {
  release(): void;
}

export interface StoreWrite extends StoreRead {
  setHead(name: string, hash: string): Promise<void>;
  commit(): Promise<void>;
}

export declare class StoreImpl {
  constructor(store: KeyValueStore, newHash: () => string, assertHash: (hash: unknown) => void);
}
export interface StoreImpl extends Store {}

/** A store in memory that reads missing data from another store, and never writes to that one. */
export declare class LazyStore {
  constructor(baseStore: Store, cacheBytes: number, newHash: () => string, assertHash: (hash: unknown) => void);
}
export interface LazyStore extends Store {}

export interface LogContext {
  readonly error?: ((...words: unknown[]) => void) | undefined;
}

/** The stored record of a profile's clients that run the same code. */
export interface ClientGroup {
  readonly headHash: string;
  readonly mutationIDs: Readonly<Record<string, number>>;
  readonly lastServerAckdMutationIDs: Readonly<Record<string, number>>;
  readonly disabled: boolean;
}

export interface DatabaseRecord {
  readonly name: string;
  readonly replicacheName: string;
  readonly replicacheFormatVersion: number;
  readonly schemaVersion: string;
}

/** The engine's list of its databases in this browser profile. */
export declare class IDBDatabasesStore {
  constructor(create: (name: string) => KeyValueStore);
  getDatabases(): Promise<Readonly<Record<string, DatabaseRecord>>>;
  deleteDatabases(names: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

/** A state of the data: a snapshot from the server, or the result of a mutation on another state. */
export interface Commit {
  readonly valueHash: string;
  readonly chunk: { readonly hash: string };
  readonly meta: SnapshotMeta | LocalMeta;
}

export interface SnapshotMeta {
  readonly type: 5;
}

export interface LocalMeta {
  readonly type: 4;
  /** The state to which the mutation was applied. */
  readonly basisHash: string;
  readonly clientID: string;
  readonly mutationID: number;
  readonly mutatorName: string;
  readonly mutatorArgsJSON: ReadonlyJSON;
}

/** The changes between two states, by index name. The changes to the entries themselves have an empty name. */
export type Diffs = ReadonlyMap<string, readonly DiffOperation[]>;

/** Selects the diffs to compute. */
export interface DiffConfig {
  shouldComputeDiffs(): boolean;
  shouldComputeDiffsForIndex(name: string): boolean;
}

export declare function commitFromHash(hash: string, read: StoreRead): Promise<Commit>;
export declare function commitFromHead(name: string, read: StoreRead): Promise<Commit>;
/** Finds the snapshot from the server on which the pending mutations of a state are based. */
export declare function baseSnapshotFromCommit(commit: Commit, read: StoreRead): Promise<Commit>;
export declare function diffCommits(
  before: Commit,
  after: Commit,
  read: StoreRead,
  config: DiffConfig,
  formatVersion: 7,
): Promise<Diffs>;

/** A store in memory. Stores with the same name share their data. */
export declare class MemStore {
  constructor(name: string);
}
export interface MemStore extends KeyValueStore {}
export declare function dropMemStore(name: string): Promise<void>;
export declare function deepFreeze<Value extends ReadonlyJSON>(value: Value): Value;
/** Returns the prefix of the index keys whose first fields have these values and whose next field has this prefix. */
export declare function indexPrefix(values: readonly (ReadonlyJSON | undefined)[], prefix?: string): string;
/** Returns the key of a row in an index, given the values of its fields and its own key. */
export declare function indexKey(values: readonly (ReadonlyJSON | undefined)[], key: string): string;
export declare const emptyHash: string;
export declare function newRandomHash(): string;
export declare function assertHash(hash: unknown): void;
export declare function createLogContext(level: LogLevel | undefined, sinks: LogSink[] | undefined): LogContext;
export declare function getClientGroups(read: StoreRead): Promise<ReadonlyMap<string, ClientGroup>>;
export declare function setClientGroup(id: string, group: ClientGroup, write: StoreWrite): Promise<unknown>;
export declare function clientGroupHasPendingMutations(group: ClientGroup): boolean;
export declare function withRead<Result>(store: Store, body: (read: StoreRead) => Promise<Result>): Promise<Result>;
export declare function withWrite<Result>(store: Store, body: (write: StoreWrite) => Promise<Result>): Promise<Result>;
export declare function newRequestID(clientID: string): string;

/** Pushes all pending mutations of a store. Resolves to undefined if there are none. */
export declare function push(
  requestID: string,
  store: Store,
  log: LogContext,
  profileID: string,
  clientGroupID: string,
  clientID: string,
  pusher: Pusher,
  schemaVersion: string,
  pushVersion: 1,
): Promise<PulledResult | undefined>;

/** Pulls for the client group in a store. If `createSyncBranch` is false, the store does not change. */
export declare function beginPullV1(
  profileID: string,
  clientID: string,
  clientGroupID: string,
  schemaVersion: string,
  puller: Puller,
  requestID: string,
  store: Store,
  formatVersion: 7,
  log: LogContext,
  createSyncBranch: boolean,
): Promise<{ readonly httpRequestInfo: HTTPRequestInfo; readonly pullResponse?: unknown }>;
/** Yields to the event loop if the current turn has been long. `open` is a transaction to keep open. */
export declare function nextTurn(open: KeyValueWrite | undefined): Promise<void>;
