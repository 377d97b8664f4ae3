/**
 * What the keys of a view look like: fixed texts, with columns between them. Pure.
 *
 * An escaped column has no slash, and each piece of a key between two slashes has at most one column. So a key tells
 * which pieces it consists of, and two views can be told apart piece by piece.
 */
import { SetupError } from '../../errors.js';

/** texts[0] column[0] texts[1] column[1] … texts[n]. What a key starts with comes before all of them. */
export interface KeyPattern {
  readonly texts: readonly string[];
  readonly columns: readonly string[];
  /** The only column stands at the end as it is. Otherwise, `%` and `/` are percent-encoded in columns. */
  readonly isRaw: boolean;
}

/** The keys of one view, as far as its prefix is known. */
export interface Keys {
  readonly prefix: string;
  readonly pattern: KeyPattern;
}

/** A piece of a key: a fixed text, or what stands before and after a column. */
type Piece = readonly [head: string, tail?: string];

const column = /\{([^{}]*)\}/g;

/** Whether a key is a template, rather than the name of a column. */
export function isTemplate(key: string): boolean {
  return /[{}]/.test(key);
}

/** The columns that a template names, each once. */
export function columnsOf(template: string): string[] {
  return [...new Set([...template.matchAll(column)].map(([, name]) => name!))];
}

/**
 * The pattern of a view's keys.
 * @throws SetupError if two rows with other key columns could have the same key.
 */
export function patternOf({ key, template }: { key: readonly string[]; template?: string | undefined }): KeyPattern {
  if (template === undefined) {
    const texts = ['', ...key.map((_, i) => (i < key.length - 1 ? '/' : ''))];
    return { texts, columns: key, isRaw: key.length === 1 };
  }
  const texts = template.replace(column, '\0').split('\0');
  const columns = [...template.matchAll(column)].map(([, name]) => name!);
  if (columns.length === 0 || texts.some(isTemplate) || template.includes('\0')) {
    throw new SetupError(`its key "${template}" is no template. Write each of its columns as {column}`);
  }
  const close = texts.findIndex((text, i) => i > 0 && i < columns.length && !text.includes('/'));
  if (close > 0) {
    const [one, other] = [columns[close - 1], columns[close]];
    throw new SetupError(
      `its key "${template}" has no slash between {${one}} and {${other}}, so two rows could share a key. Write one`,
    );
  }
  return { texts, columns, isRaw: false };
}

/** Keys as a person reads them, with the columns in braces. */
export function describeKeys({ prefix, pattern: { texts, columns } }: Keys): string {
  return `${prefix}${texts[0]}${columns.map((name, i) => `{${name}}${texts[i + 1]}`).join('')}`;
}

/**
 * The texts of the columns in a key, in order; undefined if no row has the key.
 * @param key what follows the prefix
 */
export function readKey(pattern: KeyPattern, key: string): string[] | undefined {
  if (pattern.isRaw) return [key];
  const [pieces, given] = [piecesOf({ prefix: '', pattern }), key.split('/')];
  if (given.length !== pieces.length || !pieces.every((piece, i) => canBeSame([given[i]!], piece))) return undefined;
  return pieces.flatMap(([head, tail], i) =>
    tail === undefined ? [] : [unescapeKey(given[i]!.slice(head.length, given[i]!.length - tail.length))],
  );
}

function unescapeKey(text: string): string {
  return text.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** Whether some row of one view could have the key of some row of the other. */
export function canMeet(one: Keys, other: Keys): boolean {
  const [ones, others] = [piecesOf(one), piecesOf(other)];
  for (let i = 0; i < ones.length && i < others.length; i++) {
    const [a, b] = [ones[i]!, others[i]!];
    // A column that is not escaped can have all that is left.
    const isOpen = [
      one.pattern.isRaw && i === ones.length - 1,
      other.pattern.isRaw && i === others.length - 1,
    ] as const;
    if (isOpen[0] || isOpen[1]) return canBegin(a, b, isOpen);
    if (!canBeSame(a, b)) return false;
  }
  return ones.length === others.length;
}

/** No key contains U+0000. */
function piecesOf({ prefix, pattern }: Keys): Piece[] {
  return `${prefix}${pattern.texts.join('\0')}`.split('/').map((piece) => piece.split('\0') as unknown as Piece);
}

function canBegin(a: Piece, b: Piece, [isOpen, isOtherOpen]: readonly [boolean, boolean]): boolean {
  if (isOpen && (isOtherOpen || b.length === 2)) return fit(a[0], b[0], 'startsWith');
  if (isOpen) return b[0].startsWith(a[0]);
  return canBegin(b, a, [true, false]);
}

function canBeSame([a, aEnd]: Piece, [b, bEnd]: Piece): boolean {
  if (aEnd === undefined && bEnd === undefined) return a === b;
  if (aEnd === undefined) return isBetween(a, b, bEnd!);
  if (bEnd === undefined) return isBetween(b, a, aEnd);
  return fit(a, b, 'startsWith') && fit(aEnd, bEnd, 'endsWith');
}

function isBetween(text: string, head: string, tail: string): boolean {
  return text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail);
}

function fit(one: string, other: string, by: 'startsWith' | 'endsWith'): boolean {
  return one[by](other) || other[by](one);
}
