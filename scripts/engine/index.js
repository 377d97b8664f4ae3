/** Indexes on lists of fields. An index is a tree of all rows below a prefix, with keys that sort as the fields do. */

const bits = new DataView(new ArrayBuffer(8));

/** Flips the sign bit of a number, and all other bits of a negative one, so that the 16 digits sort as numbers. */
function numberText(number) {
  // Adding zero turns -0 into 0.
  bits.setFloat64(0, number + 0);
  const binary = bits.getBigUint64(0);
  const flipped = binary ^ (binary >> 63n ? 2n ** 64n - 1n : 2n ** 63n);
  return flipped.toString(16).padStart(16, '0');
}

/** Null sorts last, as in Postgres. Texts contain no character below \x02, so a text sorts before its continuations. */
function valueText(value) {
  if (value === null || value === undefined) return 'z';
  if (typeof value === 'number') return `n${numberText(value)}`;
  if (typeof value !== 'string') return `j${JSON.stringify(value)}`;
  const escaped = value.replaceAll('\x02', '\x022').replaceAll('\x01', '\x021').replaceAll('\0', '\x020');
  // In UTC times, Z must sort before the decimals of a later time.
  return `t${escaped.replace(/(\dT\d\d:\d\d:\d\d[.\d]*)Z$/, '$1\x02Z')}`;
}

/**
 * Returns the beginning of the keys of rows whose first fields have these values. With a prefix, the next field is a
 * text that begins with it.
 */
export function indexPrefix(values, prefix) {
  const equal = values.map((value) => `${valueText(value)}\x01`).join('');
  return prefix === undefined ? equal : equal + valueText(prefix);
}

/** The index key of the row with these values in its fields and this key in the view. */
export const indexKey = (values, key) => `\0${indexPrefix(values)}\0${key}`;

/** Splits a key into its two parts: the text of the fields, and the row's own key. */
export function decodeIndexKey(key) {
  const end = key.indexOf('\0', 1);
  return [key.slice(1, end), key.slice(end + 1)];
}

/** Adds a row to an index (0), or removes it (1). The definition is a JSON array of field names. */
export async function indexValue(_log, index, operation, key, row, definition) {
  const values = JSON.parse(definition).map((field) => row?.[field]);
  await (operation === 0 ? index.put(indexKey(values, key), row) : index.del(indexKey(values, key)));
}

export class IndexRead {
  constructor(meta, map) {
    this.meta = meta;
    this.map = map;
  }
}

export class IndexWrite extends IndexRead {
  flush() {
    return this.map.flush();
  }

  clear() {
    return this.map.clear();
  }
}
