/** All kinds of names that Postgres accepts, including those that Tidemark's own statements use. */
import { identifier } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';

const plain = ['a', 'b', 'x', 'y', 't', 'id', 'name', 'at', 'item', 'n', 'p'];
const odd = [
  'User', 'order', 'select', 'two words', 'qu"ote', "apo'strophe", 'ünïcode', '$1', 'a.b', '%s', 'T', 'all', 'null', 'public',
  'percent%I', 'back\\slash', 'a/b', ' ', 'value', 'values', 'row', 'end', 'lateral', 'oid', 'old', 'new',
]; // biome-ignore format: a list of names
/** Aliases and columns in the statements that the library derives from a view. */
const taken = [
  'v',
  'j',
  'u',
  'c',
  'k1',
  'key',
  'i',
  'r',
  'm',
  'b',
  'l',
  'image',
  'tidemark_old_rows_1',
  'tidemark_header',
  'p1',
  'seat',
];

/** Quoted if necessary, and sometimes if not. */
export function quoted(choices: Choices, name: string): string {
  return /^[a-z]+$/.test(name) && plain.includes(name) && choices.percent(70) ? name : identifier(name);
}

export function anyName(choices: Choices): string {
  return choices.pick(
    choices.weighted([
      [6, plain],
      [2, odd],
      [1, taken],
    ]),
  );
}

/** This many distinct names. */
export function distinctNames(choices: Choices, count: number): string[] {
  const names = new Set<string>();
  while (names.size < count) names.add(anyName(choices));
  return [...names];
}
