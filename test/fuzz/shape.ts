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
}

export function createShape(choices: Choices, columns: readonly FuzzColumn[]): FuzzShape {
  return {
    ...(choices.percent(15) && { hasOwnPrefix: true }),
    ...(choices.percent(15) && { hasTemplate: true }),
    ...(choices.percent(15) && { value: choices.pick(columns) }),
  };
}

/** Without what carries the tag. */
export function shapeWithout({ value, ...shape }: FuzzShape, tag: string): FuzzShape {
  return value && value.tag !== tag ? { ...shape, value } : shape;
}

type Named = Pick<FuzzView, 'name' | 'key' | 'shape'>;

/** The options of `defineView`, except for the query. */
export function optionsOf({ name, key, shape }: Named) {
  const { hasOwnPrefix, hasTemplate, value } = shape;
  const columns = key.map((column) => column.name);
  const prefix = ({ ctx }: { readonly ctx: { readonly userID: string } }) => `${name}/${ctx.userID}/`;
  const template = columns.map((column) => `%${column.length}{${column}}`).join('/x/');
  return {
    key: hasTemplate ? `${hasOwnPrefix ? '' : `${name}/`}${template}` : columns,
    ...(hasOwnPrefix && { prefix }),
    ...(value && { value: value.name }),
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

/** What a client is sent of a row. */
export function shown({ value }: FuzzShape, row: Readonly<Record<string, unknown>>): unknown {
  return value ? row[value.name] : row;
}
