import { ClientError } from '../client-error.js';
import { canonicalText } from '../wants/instance.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a function that decides whether a row belongs to the instance of a view with these arguments: each argument
 * equals the field of the same name. `projectID` and `project_id` are the same name, and `7` and `"7"` are equal, because
 * the server may send a number as text.
 *
 * The function throws a ClientError `no-matches` if a row cannot be compared with the arguments.
 */
export function fieldsMatch(view: string, args: unknown): (row: unknown) => boolean {
  const fieldNames = new Map<string, string>();
  const fieldOf = (row: Fields, arg: string) => {
    let name = fieldNames.get(arg) ?? arg;
    if (!(name in row)) name = Object.keys(row).find((field) => plain(field) === plain(arg)) ?? '';
    fieldNames.set(arg, name);
    return row[name];
  };
  return (row) => {
    // Compares all arguments, so that one that cannot be compared is noticed with any row.
    const results = Object.entries(args as Fields).map(([arg, wanted]) => {
      const value = fieldOf(Object(row), arg);
      const isComparable = value !== undefined && (isScalar(wanted) || !isScalar(value));
      if (!isComparable) throw notComparable(view, arg);
      return isSame(value, wanted);
    });
    return results.every(Boolean);
  };
}

function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isSame(value: unknown, wanted: unknown): boolean {
  if (value === null || wanted === null) return value === wanted;
  return isScalar(wanted) ? String(value) === String(wanted) : canonicalText(value) === canonicalText(wanted);
}

function notComparable(view: string, arg: string): ClientError {
  const message = `The argument "${arg}" of the view "${view}" equals no field of its rows, so the client cannot tell which rows belong to it. What to do: give createClient the option matches: { ${view}: (row, args) => … }.`;
  return new ClientError('no-matches', message);
}
