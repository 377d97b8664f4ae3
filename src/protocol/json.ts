import { Problem } from '../errors.js';
import { findInexactNumber } from './numbers.js';

/** The deepest nesting of arrays and objects that a mutation's args may have. Recursive code dies at some thousands. */
export const MAX_ARGS_DEPTH = 200;

export interface ParseOptions {
  /** Refuse a number that would lose digits as a double, instead of changing it silently. */
  readonly exactNumbers?: boolean | undefined;
}

/**
 * Parses JSON text. The text is never repeated in an error.
 * @throws Problem `malformed-request`
 */
export function parseJSON(text: string, { exactNumbers = false }: ParseOptions = {}): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem('malformed-request', 'The body is not valid JSON');
  }
  const offset = exactNumbers ? findInexactNumber(text) : undefined;
  if (offset !== undefined) {
    throw new Problem(
      'malformed-request',
      `The number at offset ${offset} has digits that a double cannot carry; send it as a string`,
    );
  }
  return value;
}

/**
 * Says what in a mutation's args could not be stored as it is: nesting beyond `MAX_ARGS_DEPTH`, or a lone surrogate.
 * Returns undefined when all is well. U+0000 is left to Postgres, which takes it in some places and not in others.
 */
export function findUnstorable(args: unknown): string | undefined {
  return find(args, MAX_ARGS_DEPTH);
}

/** Recursive, but never deeper than the cap: what lies below it is not looked at. */
function find(value: unknown, levelsLeft: number): string | undefined {
  if (typeof value === 'string')
    return hasLoneSurrogate(value) ? 'a string in the args holds a lone surrogate' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levelsLeft === 0) return `the args are nested deeper than ${MAX_ARGS_DEPTH} levels`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const reason = find(item, levelsLeft - 1);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (hasLoneSurrogate(key)) return 'a key in the args holds a lone surrogate';
    const reason = find((value as Record<string, unknown>)[key], levelsLeft - 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const loneSurrogate = /\p{Surrogate}/u;

function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}
