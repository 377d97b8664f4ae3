/** A view's rows for a user, read with its own query and written as `docs/views.md` says. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { identifier } from '../../../packages/tidemark/src/sql.js';
import { columnsIn, keyOf, shown } from './shape.js';
import { userAt } from './users.js';
import { type FuzzView, textOfView } from './view.js';

/** Rows by client key, including the view's prefix. */
export type Rows = ReadonlyMap<string, unknown>;

/** The reason why there is nothing to compare with. */
export class Unreadable extends Error {}

const int8 = 20;
const numeric = 1700;
const asText = { getTypeParser: () => (value: string) => value };

type Row = Record<string, unknown>;

export interface Columns {
  readonly names: readonly string[];
  readonly types: readonly number[];
}

/** @throws Unreadable if Postgres refuses the query, or cannot run it with some user's values */
export async function describe(client: Client, view: FuzzView): Promise<Columns> {
  const { text, parameters } = textOfView(view);
  try {
    let fields: { name: string; dataTypeID: number }[] = [];
    for (const user of users) {
      const values = parameters.map((parameter) => parameter.values[user]);
      ({ fields } = await client.query({ text: `select * from (\n${text}\n) the_view`, values }));
    }
    const names = fields.map(({ name }) => name);
    const named = [...view.key, ...columnsIn(view.shape)];
    if (!named.every(({ name }) => names.includes(name))) throw new Error('a column that it names is gone');
    return { names, types: fields.map(({ dataTypeID }) => dataTypeID) };
  } catch (error) {
    throw new Unreadable((error as Error).message);
  }
}

/** Users by the index of their values. */
export const users = [0, 1] as const;

/**
 * @param owner the user who receives the rows
 * @throws Unreadable if the query fails, or its key is not unique
 */
export async function read(
  client: Client,
  view: FuzzView,
  { names, types }: Columns,
  user: number,
  owner = user,
): Promise<Rows> {
  const { text, parameters } = textOfView(view, true);
  const columns = [
    'row_to_json(the_view.*)::text',
    ...exactColumns(types).map((i) => `the_view.${identifier(names[i]!)}::text`),
    // A null row value differs from a row value whose fields are all null.
    ...names.map((name) => `(to_json(the_view.${identifier(name)}) is null)::text`),
  ];
  const values = parameters.map((parameter) => parameter.values[user]);
  const query = {
    text: `select ${columns.join(', ')} from (\n${text}\n) the_view`,
    values,
    rowMode: 'array' as const,
    types: asText,
  };
  const { rows } = await client.query<(string | null)[]>(query as never).catch((error: Error) => {
    throw new Unreadable(error.message);
  });
  const found = new Map<string, unknown>();
  for (const [json, ...texts] of rows as unknown as [string, ...(string | null)[]][]) {
    const isNull = texts.slice(-names.length);
    const row = jsonOf(json, { names, types }, texts);
    const key = keyOf(view, userAt(owner), partsOf(view, row));
    const nulls = names.filter((_, i) => isNull[i] === 'true');
    const value = shown(view, row, nulls);
    if (found.has(key) && !isDeepStrictEqual(found.get(key), value)) throw new Unreadable('two rows share a key');
    found.set(key, value);
  }
  return found;
}

function exactColumns(types: readonly number[]): number[] {
  return types.flatMap((type, i) => (type === int8 || type === numeric ? [i] : []));
}

/** The text of a row's key fields in an application. Fields that are objects have been refused by now. */
function partsOf({ key }: FuzzView, row: Row): string[] {
  const parts = key.map(({ name }) => row[name] ?? null);
  if (parts.includes(null)) throw new Unreadable('a part of a key is null');
  return parts.map((part) => (typeof part === 'object' ? JSON.stringify(part) : String(part)));
}

function jsonOf(json: string, { names, types }: Columns, exact: readonly (string | null)[]): Row {
  const value = JSON.parse(json) as Row;
  for (const [index, i] of exactColumns(types).entries()) {
    const text = exact[index]!;
    if (text !== null) define(value, names[i]!, types[i] === int8 ? bigint(text) : decimal(text));
  }
  return value;
}

/** Not by assignment, which would fail for a column named `__proto__`. */
function define(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function bigint(text: string): number | string {
  return Number.isSafeInteger(Number(text)) && BigInt(text) === BigInt(Number(text)) ? Number(text) : text;
}

/** A number with up to 15 significant digits and up to 300 decimals. */
function decimal(text: string): number | string {
  if (!/^-?[\d.]+$/.test(text)) return text;
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  const digits = trimmed.replace(/[-.]/g, '').replace(/^0+/, '');
  const [, decimals = ''] = trimmed.split('.');
  return digits.length <= 15 && decimals.length <= 300 ? Number(text) : text;
}
