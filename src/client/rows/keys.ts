import type { Key } from '../types.js';

/** The text of a row's key, as the server writes it. */
export function keyText(key: Key): string {
  if (typeof key === 'string') return key;
  const [only, ...others] = key;
  if (only !== undefined && others.length === 0) return only;
  return key.map((part) => part.replace(/[%/]/g, encodeURIComponent)).join('/');
}

/** The name of the index on a view's field. */
export function indexName(view: string, field: string): string {
  return `${view}/${field}`;
}
