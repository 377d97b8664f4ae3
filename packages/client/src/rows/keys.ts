import type { Index, Key, KeyPart } from '../types.js';

/** Returns the text of a row's key as the server writes it, with each field converted by `String`. */
export function keyText(key: Key): string {
  if (!isList(key)) return String(key);
  if (key.length === 1) return String(key[0]);
  return key.map((part) => String(part).replace(/[%/]/g, encodeURIComponent)).join('/');
}

function isList(key: Key): key is readonly KeyPart[] {
  return Array.isArray(key);
}

/** Returns the fields of an index. */
export function fieldsOf(index: Index<unknown>): readonly string[] {
  return typeof index === 'string' ? [index] : index;
}

/** Returns the name of an index of a view. */
export function indexName(view: string, index: Index<unknown>): string {
  return `${view}/${JSON.stringify(fieldsOf(index))}`;
}
