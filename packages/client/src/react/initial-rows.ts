/** The rows that a server has rendered, with the changes that the user makes before the client has newer rows. */

/**
 * Returns the initial rows with the user's changes to the local rows: a changed row takes the place of its initial one,
 * and new rows come last, or first if the rows descend. Returns undefined if it is unclear where a change belongs, such as
 * a deletion, so that only the local rows show it. The client does not know which fields are the key, so this looks for
 * the rows whose fields hold the key.
 *
 * @param keys the keys of the changed rows
 */
export function withChanges<Row>(
  initial: readonly Row[],
  localRows: readonly Row[],
  keys: ReadonlySet<string>,
  descending?: boolean,
): readonly Row[] | undefined {
  const rows = [...initial];
  for (const key of keys) {
    const hasKey = (row: Row) => keyFields(row, key).length > 0;
    const [row, ...otherRows] = localRows.filter(hasKey);
    if (row === undefined || otherRows.length > 0) return undefined;
    const [place, ...otherPlaces] = rows.filter(hasKey);
    if (place === undefined) rows[descending ? 'unshift' : 'push'](row);
    else if (otherPlaces.length === 0 && isSubset(keyFields(row, key), keyFields(place, key))) {
      rows[rows.indexOf(place)] = row;
    } else return undefined;
  }
  return rows;
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((each) => all.includes(each));
}

/** Returns the fields of a row that hold a key or a part of it: none if these do not hold all of it. */
function keyFields(row: unknown, key: string): string[] {
  const fields = Object.entries(Object(row)).map(([field, value]) => [field, String(value)] as const);
  const among = (parts: readonly string[]) => fields.filter(([, text]) => parts.includes(text));
  const parts = key.split('/');
  const holding = among([key, ...parts]);
  const isWhole = among([key]).length > 0 || parts.every((part) => among([part]).length > 0);
  return isWhole ? holding.map(([field]) => field) : [];
}
