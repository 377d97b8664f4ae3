import type { ClientBase } from 'pg';
import { SetupError } from '../errors.js';
import { type KeyValueRows, Store, type StoredRow } from './store.js';

/** The options of a scan, as in Replicache. Scans over an index are not supported. */
export interface KeyValueScanOptions {
  /** The prefix of the keys. Default: all keys. */
  readonly prefix?: string | undefined;
  /** The maximum number of entries. Default: all. */
  readonly limit?: number | undefined;
  /** The key to start at. Default: the first key. */
  readonly start?: { readonly key: unknown; readonly exclusive?: boolean | undefined } | undefined;
  readonly indexName?: string | undefined;
}

/** An iterator that can also return all its items as an array. */
export interface KeyValueIterator<Item> extends AsyncIterableIterator<Item> {
  toArray(): Promise<Item[]>;
}

/** The result of a scan, in the byte order of the keys. */
export interface KeyValueScan<Key, Value> extends AsyncIterable<Value> {
  [Symbol.asyncIterator](): KeyValueIterator<Value>;
  values(): KeyValueIterator<Value>;
  keys(): KeyValueIterator<Key>;
  entries(): KeyValueIterator<readonly [Key, Value]>;
  toArray(): Promise<Value[]>;
}

/** Replicache's `WriteTransaction`, on the server. */
export interface KeyValueTransaction {
  /** Empty, because mutators on the server do not receive the client's ID. */
  readonly clientID: string;
  /** 0, because mutators on the server do not receive the mutation's ID. */
  readonly mutationID: number;
  readonly reason: 'authoritative';
  readonly location: 'server';
  /** Alias of `location`. */
  readonly environment: 'server';
  get<Value>(key: string): Promise<Value | undefined>;
  has(key: string): Promise<boolean>;
  isEmpty(): Promise<boolean>;
  scan<Key = string, Value = unknown>(options?: KeyValueScanOptions): KeyValueScan<Key, Value>;
  set(key: string, value: unknown): Promise<void>;
  /** Alias of `set`. */
  put(key: string, value: unknown): Promise<void>;
  /** Deletes a key. Returns true if it existed. */
  del(key: string): Promise<boolean>;
}

/**
 * Creates a key-value transaction, in which mutators that were written for Replicache's client run on the server.
 *
 * @param client the mutator's transaction
 * @param rows the rows that hold the values, by the prefixes of their keys
 * @throws SetupError if a prefix begins with another one. The transaction throws a TypeError for a key without any of
 * the prefixes, for a value that does not fit its rows, and for a scan over an index.
 * @example keyValue(tx, { 'todo/': { table: 'todo', key: 'id', columns: ['id', 'text'], where: { owner_id: userID } } })
 */
export function keyValue(
  client: Pick<ClientBase, 'query'>,
  rows: Readonly<Record<string, KeyValueRows>>,
): KeyValueTransaction {
  const stores = Object.entries(rows)
    .map(([prefix, rowsOfPrefix]) => new Store(client, prefix, rowsOfPrefix))
    .sort((a, b) => Buffer.compare(Buffer.from(a.prefix), Buffer.from(b.prefix)));
  for (const [i, { prefix }] of stores.entries()) {
    const next = stores[i + 1]?.prefix;
    if (next?.startsWith(prefix)) throw new SetupError(`The prefix "${next}" begins with "${prefix}"`);
  }
  /** Returns the store of a key, and the part of the key after the prefix. */
  const locate = (key: string): readonly [Store, string] => {
    const store = stores.find(({ prefix }) => key.startsWith(prefix));
    if (!store) throw new TypeError('The key begins with none of the prefixes for which rows are named');
    return [store, key.slice(store.prefix.length)];
  };
  const get = async (key: string): Promise<StoredRow | undefined> => {
    const [store, rest] = locate(key);
    return store.get(rest);
  };
  const set = async (key: string, value: unknown): Promise<void> => {
    const [store, rest] = locate(key);
    await store.set(rest, value);
  };
  const read = (options: KeyValueScanOptions) => readRange(stores, options);
  return {
    clientID: '',
    mutationID: 0,
    reason: 'authoritative',
    location: 'server',
    environment: 'server',
    get: async <Value>(key: string) => (await get(key))?.value as Value | undefined,
    has: async (key) => (await get(key)) !== undefined,
    isEmpty: async () => (await read({ limit: 1 })).length === 0,
    scan: <Key, Value>(options: KeyValueScanOptions = {}) =>
      scanOf(() => read(options) as Promise<(readonly [Key, Value])[]>),
    set,
    put: set,
    async del(key) {
      const [store, rest] = locate(key);
      return store.del(rest);
    },
  };
}

/** Reads the stores in the order of their prefixes. No prefix begins with another, so the keys are in order. */
async function readRange(
  stores: readonly Store[],
  { prefix = '', start, limit = Number.POSITIVE_INFINITY, indexName }: KeyValueScanOptions,
): Promise<(readonly [string, unknown])[]> {
  if (indexName !== undefined) throw new TypeError('Scans over an index are not served here: scan by a prefix');
  const from = start && { key: String(start.key), exclusive: start.exclusive };
  const entries: (readonly [string, unknown])[] = [];
  for (const store of stores) {
    if (!store.prefix.startsWith(prefix) && !prefix.startsWith(store.prefix)) continue;
    const left = limit - entries.length;
    if (left <= 0) break;
    const rows = await store.scan({
      prefix: prefix.slice(store.prefix.length),
      start: from,
      limit: Number.isFinite(left) ? left : undefined,
    });
    entries.push(...rows.map(({ key, value }) => [store.prefix + key, value] as const));
  }
  return entries;
}

function scanOf<Key, Value>(read: () => Promise<(readonly [Key, Value])[]>): KeyValueScan<Key, Value> {
  const values = () => iterate(async () => (await read()).map(([, value]) => value));
  return {
    [Symbol.asyncIterator]: values,
    values,
    keys: () => iterate(async () => (await read()).map(([key]) => key)),
    entries: () => iterate(read),
    toArray: () => values().toArray(),
  };
}

function iterate<Item>(read: () => Promise<Item[]>): KeyValueIterator<Item> {
  const generator = (async function* () {
    yield* await read();
  })();
  return Object.assign(generator, { toArray: read });
}
