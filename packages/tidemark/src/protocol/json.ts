/** Finds JSON values that a double or Postgres cannot represent unchanged. */

/** The maximum nesting depth of args. Recursive code overflows the stack at a few thousand levels. */
export const maxArgsDepth = 200;

/**
 * Returns the reason why args cannot be stored unchanged: nesting deeper than `maxArgsDepth`, or a lone surrogate;
 * undefined if they can. Leaves U+0000 to Postgres, which accepts it in some places and not in others.
 */
export function findUnstorable(args: unknown): string | undefined {
  return find(args, maxArgsDepth);
}

/** Recurses no deeper than the limit. */
function find(value: unknown, levelsLeft: number): string | undefined {
  if (typeof value === 'string') {
    return hasLoneSurrogate(value) ? 'a string in the args contains a lone surrogate' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (levelsLeft === 0) return `the args are nested deeper than ${maxArgsDepth} levels`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const reason = find(item, levelsLeft - 1);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (hasLoneSurrogate(key)) return 'a key in the args contains a lone surrogate';
    const reason = find((value as Record<string, unknown>)[key], levelsLeft - 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const loneSurrogate = /\p{Surrogate}/u;

function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}

// A double preserves 15 significant digits. A number with more has a run of at least 16 digits and points.
const suspicious = /[\d.]{16}|\d[eE]/;

const QUOTE = 34;
const MINUS = 45;
const BACKSLASH = 92;

/**
 * Returns the offset of the first number that a double would change; undefined if there is none. Takes linear time.
 *
 * A number passes if it equals what a JavaScript client writes for some double (`0.1`, also as `0.10` or `1e-1`), or if
 * a double equals it exactly (`9007199254740994`, `1180591620717411303424`).
 * @param text valid JSON
 */
export function findInexactNumber(text: string): number | undefined {
  if (!suspicious.test(text)) return undefined;
  let at = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(text, at);
    } else if (unit === MINUS || isDigit(unit)) {
      const end = endOfNumber(text, at);
      if (!isCarriedByDouble(text.slice(at, end))) return at;
      at = end;
    } else {
      at++;
    }
  }
  return undefined;
}

/** True if `Number()` preserves the value of a JSON number token, by the rule of `findInexactNumber`. */
export function isCarriedByDouble(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const shortest = String(value);
  if (shortest === token) return true;
  // Comparing the digits is enough: parsing never changes a number by a factor of ten.
  const said = significantDigits(token);
  return said === significantDigits(shortest) || said === exactDigits(value);
}

/** Returns the digits without sign, point, exponent, and leading and trailing zeros. Zero has no digits. */
function significantDigits(token: string): string {
  return withoutOuterZeros(token.replace(/[eE].*|[-.]/g, ''));
}

/** Returns all significant decimal digits of a double. They are finite, because m / 2^k is m × 5^k / 10^k. */
function exactDigits(value: number): string {
  const [whole, fraction = ''] = Math.abs(value).toString(2).split('.');
  return withoutOuterZeros(String(BigInt(`0b${whole}${fraction}`) * 5n ** BigInt(fraction.length)));
}

/** Uses no regular expression, because one that matches trailing zeros takes quadratic time. */
function withoutOuterZeros(digits: string): string {
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote - 1;
    while (text.charCodeAt(backslash) === BACKSLASH) backslash--;
    if ((quote - backslash) % 2 === 1) return quote + 1;
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isNumberUnit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** True for digits, `+`, `-`, `.`, `e` and `E`. In valid JSON, a run that begins with a digit or `-` is one number. */
function isNumberUnit(unit: number): boolean {
  return isDigit(unit) || unit === 43 || unit === MINUS || unit === 46 || unit === 69 || unit === 101;
}
