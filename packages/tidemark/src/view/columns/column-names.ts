/** The names that clients use for the columns of a view. Pure. */
import { SetupError } from '../../errors.js';

/** How columns are renamed: `camelCase` makes `list_id` `listId`; an object renames the columns that it names. */
export type ColumnNames = 'camelCase' | { readonly [column: string]: string | undefined };

/** `list_id` as `listId`. Leading underscores stay. */
export type CamelCase<Name extends string> = Name extends `_${infer Rest}` ? `_${CamelCase<Rest>}` : Joined<Name>;

type Joined<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Joined<Rest>>}`
  : Name;

/**
 * Returns the clients' names of columns, in order.
 * @throws SetupError if two have the same name, or the query does not return a renamed column.
 */
export function clientNames(columns: readonly string[], names: ColumnNames | undefined): string[] {
  if (names === undefined) return [...columns];
  const renamed = new Map(typeof names === 'string' ? [] : Object.entries(names));
  const missing = [...renamed.keys()].find((column) => !columns.includes(column));
  if (missing !== undefined) {
    throw new SetupError(
      `it renames the column ${missing}, which the query does not return. It returns: ${columns.join(', ')}`,
    );
  }
  const clientColumns = columns.map((column) =>
    names === 'camelCase' ? camelCase(column) : (renamed.get(column) ?? column),
  );
  const twice = clientColumns.find((name, i) => clientColumns.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new SetupError(`two of its columns are called ${twice} by clients. Rename one of them with AS`);
  }
  return clientColumns;
}

function camelCase(column: string): string {
  const [first = '', ...others] = column.replace(/^_+/, '').split('_');
  const underscores = /^_*/.exec(column)![0];
  return [underscores, first, ...others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}
