/** What clients are sent of a view's rows: now and then not the row as it is. */
import type { Choices } from './choices.js';
import type { FuzzColumn, FuzzView } from './view.js';

export interface FuzzShape {
  /** Each user's keys have a prefix of their own. */
  readonly hasOwnPrefix?: true;
  /** Keys are made by a template. */
  readonly hasTemplate?: true;
  /** The column that is the value. */
  readonly value?: FuzzColumn;
  /** Columns have other names at the client. */
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

/** Without what carries the tag. */
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

/** A client's key. */
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

/** What a client is sent of a row. */
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
