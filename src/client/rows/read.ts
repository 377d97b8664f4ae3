/** Reads and writes of one view, in a transaction of the engine. */
import type { ReadTransaction, WriteTransaction } from '#engine';
import { ClientError } from '../client-error.js';
import type { ReadonlyJSON } from '../stores/types.js';
import type { Key, ListOptions, ReadView, WriteView } from '../types.js';
import { indexName, keyText } from './keys.js';

/** Where the rows of a view are. */
export interface Place {
  readonly view: string;
  /** What the keys of its rows start with. */
  readonly prefix: string;
  /** The fields that it has an index on. */
  readonly indexes: readonly string[];
}

// The server sends what the views' types say, and nothing checks it here.
type Unchecked = never;

export function readView(tx: ReadTransaction, place: Place): ReadView<unknown> {
  return {
    get: (key) => tx.get(place.prefix + keyText(key)),
    list: (options = {}) => list(tx, place, options),
  };
}

export function writeView(tx: WriteTransaction, place: Place): WriteView<unknown> {
  const at = (key: Key) => place.prefix + keyText(key);
  return {
    ...readView(tx, place),
    set: (key, row) => tx.set(at(key), row as Unchecked),
    async update(key, fields) {
      const row = await tx.get(at(key));
      if (row === undefined) return tx.reason === 'initial' ? tellMissing(place.view, keyText(key)) : undefined;
      const changed = Object.entries(fields).filter(([, value]) => value !== undefined);
      await tx.set(at(key), { ...(row as object), ...Object.fromEntries(changed) } as Unchecked);
    },
    async delete(key) {
      await tx.del(at(key));
    },
  };
}

/** Somebody else may have deleted the row by the time that the mutator runs again, but hardly before its call. */
function tellMissing(view: string, key: string): void {
  console.warn(
    `A mutator updates the row "${key}" of the view "${view}", which is not there, so nothing is shown of it. What to do: name the row by the fields of its key, as the row has them, or create it first with set.`,
  );
}

async function list(tx: ReadTransaction, place: Place, options: ListOptions): Promise<readonly ReadonlyJSON[]> {
  const { prefix = '', after, limit, by, equals } = options;
  const rows: ReadonlyJSON[] = [];
  if (by === undefined) {
    const start = after === undefined ? undefined : { key: place.prefix + keyText(after), exclusive: true };
    for await (const row of tx.scan({ prefix: place.prefix + prefix, limit, start }).values()) rows.push(row);
    return rows;
  }
  if (!place.indexes.includes(by)) {
    const message = `The view "${place.view}" has no index on "${by}". What to do: give createClient the option indexes: { ${place.view}: ['${by}'] }.`;
    throw new ClientError('no-index', message);
  }
  const found = tx.scan({ indexName: indexName(place.view, by), prefix: equals ?? prefix, limit });
  for await (const [[value], row] of found.entries()) {
    // Those that only start with it come after those that are equal.
    if (equals !== undefined && value !== equals) break;
    rows.push(row);
  }
  return rows;
}
