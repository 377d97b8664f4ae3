/** The form in which clients receive a view's rows, which is not always the row itself. */
import type { Choices } from './choices.js';
import type { FuzzColumn, FuzzView } from './view.js';

export interface FuzzShape {
  /** Each user's keys have their own prefix. */
  readonly hasOwnPrefix?: true;
  /** A template makes the keys. */
  readonly hasTemplate?: true;
  /** The column that is the value. */
  readonly value?: FuzzColumn;
  /** Clients see the columns under other names. */
  readonly isRenamed?: true;
  readonly nulls?: 'omit';
}

export function createShape(choices: Choices, columns: readonly FuzzColumn[]): FuzzShape {
  return {
    ...(choices.percent(15) && { hasOwnPrefix: true }),
    ...(choices.percent(15) && { hasTemplate: true }),
    ...(choices.percent(15)
      ? { value: choices.pick(columns) }
      : {
          ...(choices.percent(15) && { isRenamed: true as const }),
          ...(choices.percent(15) && { nulls: 'omit' as const }),
        }),
  };
}

/** Removes everything with the tag. */
export function shapeWithout({ value, ...shape }: FuzzShape, tag: string): FuzzShape {
  return value && value.tag !== tag ? { ...shape, value } : shape;
}

type Named = Pick<FuzzView, 'name' | 'key' | 'shape'>;

/** The options of `defineView`, except for the query. */
export function optionsOf({ name, key, shape }: Named) {
  const { hasOwnPrefix, hasTemplate, value, isRenamed, nulls } = shape;
  const columns = key.map((column) => column.name);
  const prefix = ({ ctx }: { readonly ctx: { readonly userID: string } }) => `${name}/${ctx.userID}/`;
  const template = columns.map((column) => `%${column.length}{${column}}`).join('/x/');
  return {
    key: hasTemplate ? `${hasOwnPrefix ? '' : `${name}/`}${template}` : columns,
    ...(hasOwnPrefix && { prefix }),
    ...(value && { value: value.name }),
    ...(isRenamed && { columns: Object.fromEntries(columns.map((column) => [column, renamed(column)])) }),
    ...(nulls && { nulls }),
  };
}

/** The client's key of a row. */
export function keyOf({ name, key, shape }: Named, userID: string, texts: readonly string[]): string {
  const escaped = texts.map((text) => text.replaceAll('%', '%25').replaceAll('/', '%2F'));
  const parts = texts.length === 1 && !shape.hasTemplate ? texts : escaped;
  const prefix = shape.hasOwnPrefix ? `${name}/${userID}/` : `${name}/`;
  if (!shape.hasTemplate) return `${prefix}${parts.join('/')}`;
  return `${prefix}${parts.map((part, i) => `%${key[i]!.name.length}${part}`).join('/x/')}`;
}

/** The columns that it names. */
export function columnsIn({ value }: FuzzShape): readonly FuzzColumn[] {
  return value ? [value] : [];
}

const renamed = (column: string) => `"${column}\\'`;

/** The value that clients receive for a row. */
export function shown(
  { key, shape }: Named,
  row: Readonly<Record<string, unknown>>,
  nulls: readonly string[],
): unknown {
  const { value, isRenamed } = shape;
  if (value) return row[value.name];
  const isKey = (column: string) => key.some(({ name }) => name === column);
  const present = Object.entries(row).filter(([column]) => !shape.nulls || !nulls.includes(column));
  return Object.fromEntries(
    present.map(([column, one]) => [isRenamed && isKey(column) ? renamed(column) : column, one]),
  );
}
