import { Problem } from '../errors.js';
import { findInexactNumber } from './numbers.js';

/** How deeply arrays and objects may be nested in args. Recursive code overflows the stack at some thousand levels. */
export const MAX_ARGS_DEPTH = 200;

/** The options of `parseJSON`. */
export interface ParseOptions {
  /** Refuses numbers that a double cannot represent, instead of changing them silently. Default false. */
  readonly exactNumbers?: boolean | undefined;
}

/**
 * Parses JSON text. Errors never repeat the text.
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
 * Says what in args cannot be stored unchanged: nesting deeper than `MAX_ARGS_DEPTH`, or a lone surrogate. Returns
 * undefined if all is well. U+0000 is left to Postgres, which accepts it in some places and not in others.
 */
export function findUnstorable(args: unknown): string | undefined {
  return find(args, MAX_ARGS_DEPTH);
}

/** Recursive, but never deeper than the limit: nothing below it is visited. */
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
