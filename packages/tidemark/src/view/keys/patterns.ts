/**
 * The patterns of a view's keys: fixed texts with columns between them. Pure.
 *
 * An escaped column has no slash, and each piece of a key between two slashes has at most one column. So a key splits
 * into pieces in one way only, and two views can be compared piece by piece.
 */
import { SetupError } from '../../errors.js';

/** texts[0] columns[0] texts[1] columns[1] … texts[n]. The prefix precedes all of them. */
export interface KeyPattern {
  readonly texts: readonly string[];
  readonly columns: readonly string[];
  /** True if the only column is at the end, unescaped. Otherwise, `%` and `/` are percent-encoded in columns. */
  readonly isRaw: boolean;
}

/** The keys of one view: its prefix, as far as it is known, and its pattern. */
export interface Keys {
  readonly prefix: string;
  readonly pattern: KeyPattern;
}

/** A piece of a key: a fixed text, or the texts before and after a column. */
type Piece = readonly [head: string, tail?: string];

const column = /\{([^{}]*)\}/g;

/** Checks whether a key is a template, rather than the name of a column. */
export function isTemplate(key: string): boolean {
  return /[{}]/.test(key);
}

/** Returns the columns that a template names, each once. */
export function columnsOf(template: string): string[] {
  return [...new Set([...template.matchAll(column)].map(([, name]) => name!))];
}

/**
 * Returns the pattern of a view's keys.
 * @throws SetupError if the template is invalid, or two rows with different key columns could have the same key.
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

/** Describes keys for people, with the columns in braces. */
export function describeKeys({ prefix, pattern: { texts, columns } }: Keys): string {
  return `${prefix}${texts[0]}${columns.map((name, i) => `{${name}}${texts[i + 1]}`).join('')}`;
}

/** A field of a row's key, or its text. */
export type KeyPart = string | number | bigint | boolean;

/** A row's key without its view's prefix: the value of its key column, or an array for several columns. */
export type Key = KeyPart | readonly KeyPart[];

/** Returns the text of a key, with each field converted by `String`. */
export function writeKey(key: Key): string {
  if (typeof key !== 'object') return String(key);
  if (key.length === 1) return String(key[0]);
  return key.map((part) => String(part).replace(/[%/]/g, encodeURIComponent)).join('/');
}

/**
 * Returns the texts of the columns in a key, in order; undefined if no row can have the key.
 * @param key without the prefix
 */
export function readKey(pattern: KeyPattern, key: string): string[] | undefined {
  if (pattern.isRaw) return [key];
  const [pieces, actualPieces] = [piecesOf({ prefix: '', pattern }), key.split('/')];
  if (actualPieces.length !== pieces.length || !pieces.every((piece, i) => canBeSame([actualPieces[i]!], piece))) {
    return undefined;
  }
  return pieces.flatMap(([start, end], i) =>
    end === undefined ? [] : [unescapeKey(actualPieces[i]!.slice(start.length, actualPieces[i]!.length - end.length))],
  );
}

function unescapeKey(text: string): string {
  return text.replaceAll('%2F', '/').replaceAll('%25', '%');
}

/** Checks whether a row of one view could have the same key as a row of the other. */
export function canOverlap(one: Keys, other: Keys): boolean {
  const [onePieces, otherPieces] = [piecesOf(one), piecesOf(other)];
  for (let i = 0; i < onePieces.length && i < otherPieces.length; i++) {
    const [a, b] = [onePieces[i]!, otherPieces[i]!];
    // An unescaped column can match the whole rest of a key.
    const isOpen = [
      one.pattern.isRaw && i === onePieces.length - 1,
      other.pattern.isRaw && i === otherPieces.length - 1,
    ] as const;
    if (isOpen[0] || isOpen[1]) return canBegin(a, b, isOpen);
    if (!canBeSame(a, b)) return false;
  }
  return onePieces.length === otherPieces.length;
}

/** Splits keys into pieces. No key contains U+0000. */
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

function isBetween(text: string, start: string, end: string): boolean {
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

function fit(one: string, other: string, by: 'startsWith' | 'endsWith'): boolean {
  return one[by](other) || other[by](one);
}
