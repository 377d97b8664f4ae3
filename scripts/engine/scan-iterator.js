/** Scans in both directions. They read only those nodes of a tree that hold entries of the result. */
import { lessThan, lessThanEq } from 'compare-utf8';
import { asyncIterableToArray } from './async-iterable-to-array.js';
import { throwIfClosed } from './transaction-closed-error.js';

/** Returns the number of leading entries whose keys meet a condition. */
function countWhile(entries, condition) {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(entries[middle][0])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the entries of one leaf below a node, from the scan's position on and in its order. Empty if there are none.
 * @param isBelow True if a key is below the scan's position. A node's key is the highest one in it.
 */
async function nextEntries(map, hash, isBelow, descending) {
  const { level, entries } = await map.getNode(hash);
  const position = countWhile(entries, isBelow);
  // Copies, because a mutator may change the nodes.
  const rest = descending ? entries.slice(0, level > 0 ? position + 1 : position).reverse() : entries.slice(position);
  if (level === 0) return rest;
  for (const [, child] of rest) {
    const found = await nextEntries(map, child, isBelow, descending);
    if (found.length > 0) return found;
  }
  return [];
}

async function* scan(toValue, options, read, onLimitKey) {
  throwIfClosed(read);
  const { indexName, descending } = options;
  let { after, limit } = options;
  limit ??= Number.POSITIVE_INFINITY;
  const map = indexName === undefined ? read.map : read.getMapForIndex(indexName);
  const prefix = (indexName === undefined ? '' : '\0') + (options.prefix ?? '');
  const isBelow = descending
    ? (key) => (lessThan(key, prefix) || key.startsWith(prefix)) && (after === undefined || lessThan(key, after))
    : (key) => lessThan(key, prefix) || (after !== undefined && lessThanEq(key, after));
  while (limit > 0) {
    // Always from the root, because a mutator may have changed the tree.
    const entries = await nextEntries(map, map.rootHash, isBelow, descending);
    if (entries.length === 0) return;
    for (const [key, value] of entries) {
      if (!key.startsWith(prefix)) return;
      after = key;
      limit--;
      // Changes after the last key of a limited scan do not affect its subscribers.
      if (limit === 0 && !descending) onLimitKey(key);
      yield toValue(key, value);
      if (limit === 0) return;
    }
  }
}

export class ScanResultImpl {
  #args;

  constructor(_iterator, ...args) {
    this.#args = args;
  }

  keys() {
    return this.#scan((key) => key);
  }

  values() {
    return this.#scan((_key, value) => value);
  }

  entries() {
    return this.#scan((key, value) => [key, value]);
  }

  #scan(toValue) {
    const iterator = scan(toValue, ...this.#args);
    return Object.assign(iterator, { toArray: () => asyncIterableToArray(iterator) });
  }
}

/** The start of the engine's own index iterator, which is not used. */
export const fromKeyForIndexScanInternal = () => '';
