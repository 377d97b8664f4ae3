/** What clients are sent of a view's rows: now and then not the row as it is. */
import type { Choices } from './choices.js';
import type { FuzzColumn } from './view.js';

export interface FuzzShape {
  /** The column that is the value. */
  readonly value?: FuzzColumn;
}

export function createShape(choices: Choices, columns: readonly FuzzColumn[]): FuzzShape {
  return choices.percent(15) ? { value: choices.pick(columns) } : {};
}

/** Without what carries the tag. */
export function shapeWithout({ value, ...shape }: FuzzShape, tag: string): FuzzShape {
  return value && value.tag !== tag ? { ...shape, value } : shape;
}

/** The options of `defineView`. */
export function optionsOf({ value }: FuzzShape): { value?: string } {
  return value ? { value: value.name } : {};
}

/** The columns that it names. */
export function columnsIn({ value }: FuzzShape): readonly FuzzColumn[] {
  return value ? [value] : [];
}

/** What a client is sent of a row. */
export function shown({ value }: FuzzShape, row: Readonly<Record<string, unknown>>): unknown {
  return value ? row[value.name] : row;
}
