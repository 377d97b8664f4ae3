/** Reads and writes one view in a transaction of the engine. */
import { indexKey, indexPrefix, type ReadTransaction, type ScanOptions, type WriteTransaction } from '#engine';
import { ClientError } from '../client-error.js';
import type { ReadonlyJSON } from '../stores/types.js';
import type { Index, IndexedRow, Key, ListOptions, ReadView, WriteView } from '../types.js';
import { fieldsOf, indexName, keyText } from './keys.js';

/** A view as it is stored: the prefix of its keys, and its indexes. */
export interface StoredView {
  readonly view: string;
  /** The prefix of the keys of its rows. */
  readonly prefix: string;
  readonly indexes: readonly Index<unknown>[];
  /** The instance to which reads are restricted. */
  readonly instance?: Instance | undefined;
}

/** An instance of a view that has arguments. */
export interface Instance {
  readonly text: string;
  /** True if a row of the view belongs to the instance. */
  matches(row: unknown): boolean;
}

// The server sends rows of the views' types. The client does not check them.
type Unchecked = never;

export function readView(tx: ReadTransaction, storedView: StoredView): ReadView<unknown> {
  return {
    async get(key) {
      const row = await tx.get(storedView.prefix + keyText(key));
      return belongs(storedView, row) ? row : undefined;
    },
    list: (options = {}) => list(tx, storedView, options),
    count: async (options = {}) => (await list(tx, storedView, options)).length,
  };
}

/** True if a row exists and belongs to the instance to which reads are restricted. */
export function belongs({ instance }: StoredView, row: unknown): boolean {
  return row !== undefined && (!instance || instance.matches(row));
}

export function writeView(tx: WriteTransaction, storedView: StoredView): WriteView<unknown> {
  const at = (key: Key) => storedView.prefix + keyText(key);
  return {
    ...readView(tx, storedView),
    set: (key, row) => tx.set(at(key), row as Unchecked),
    async update(key, fields) {
      const row = await tx.get(at(key));
      if (row === undefined) return tx.reason === 'initial' ? warnMissing(storedView.view, keyText(key)) : undefined;
      const changed = Object.entries(fields).filter(([, value]) => value !== undefined);
      await tx.set(at(key), { ...(row as object), ...Object.fromEntries(changed) } as Unchecked);
    },
    async delete(key) {
      await tx.del(at(key));
    },
  };
}

/** Warns about a missing row in the initial call. Before a rerun, another user may have deleted the row. */
function warnMissing(view: string, key: string): void {
  console.warn(
    `A mutator updates the row "${key}" of the view "${view}", which is not there, so nothing is shown of it. What to do: name the row by the fields of its key, or create it first with set.`,
  );
}

async function list(
  tx: ReadTransaction,
  storedView: StoredView,
  options: ListOptions,
): Promise<readonly ReadonlyJSON[]> {
  const rows: ReadonlyJSON[] = [];
  const { limit, ...others } = scanOptions(storedView, options);
  // The scan would count the rows of other instances, too.
  const scanned = tx.scan(storedView.instance ? others : { ...others, limit });
  for await (const row of scanned.values()) {
    if (limit !== undefined && rows.length >= limit) break;
    if (belongs(storedView, row)) rows.push(row);
  }
  return rows;
}

/** @throws ClientError if the view has no such index, or if the options cannot be combined */
function scanOptions(
  { view, prefix: start, indexes }: StoredView,
  { by, equals, prefix, after, limit, descending }: ListOptions,
): ScanOptions {
  const { row, key } = (after ?? {}) as Partial<IndexedRow>;
  if (by === undefined) {
    if (equals !== undefined || row) {
      throw wrongOptions(view, 'name an index in `by`, or leave out `equals` and let `after` be a key');
    }
    const afterKey = after === undefined ? after : start + keyText(after as Key);
    return { prefix: start + (prefix ?? ''), after: afterKey, limit, descending };
  }
  const name = indexName(view, by);
  if (!indexes.some((index) => indexName(view, index) === name)) throw noIndex(view, by);
  if (after !== undefined && !(row && key !== undefined)) {
    throw wrongOptions(view, 'with `by`, let `after` be { row, key }: a row, or its fields in the index, and its key');
  }
  const fields = fieldsOf(by);
  const values = equals === undefined ? [] : [equals].flat();
  if (values.length + (prefix === undefined ? 0 : 1) > fields.length) {
    throw wrongOptions(view, 'let `equals` and `prefix` be about no more fields than the index has');
  }
  const valuesAfter = row && fields.map((field) => (row as Record<string, ReadonlyJSON>)[field]);
  return {
    indexName: name,
    prefix: indexPrefix(values, prefix),
    after: valuesAfter && indexKey(valuesAfter, start + keyText(key!)),
    limit,
    descending,
  };
}

function noIndex(view: string, by: Index<unknown>): ClientError {
  const fields = fieldsOf(by).map((field) => `'${field}'`);
  const index = fields.length > 1 ? `[${fields.join(', ')}]` : fields.join();
  const message = `The view "${view}" has no index on ${index}. What to do: give createClient the option indexes: { ${view}: [${index}] }.`;
  return new ClientError('no-index', message);
}

function wrongOptions(view: string, todo: string): ClientError {
  return new ClientError('list-options', `The view "${view}" cannot be listed this way. What to do: ${todo}.`);
}
