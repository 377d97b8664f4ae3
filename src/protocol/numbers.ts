/**
 * Numbers in JSON text that a double cannot carry.
 *
 * A number passes when it is what a JavaScript client would have written for some double (`0.1`, also as `0.10` or
 * `1e-1`), or when a double equals it exactly (`9007199254740994`, `1180591620717411303424`).
 */

// Fifteen significant digits always survive; a number with more has a run of digits and points this long.
const suspicious = /[\d.]{16}|\d[eE]/;

const QUOTE = 34;
const MINUS = 45;
const BACKSLASH = 92;

/**
 * The offset of the first number that would change as a double, or undefined. `text` must be valid JSON. Linear time.
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

/** Whether a JSON number token survives `Number()` without losing what it says. */
export function isCarriedByDouble(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const shortest = String(value);
  if (shortest === token) return true;
  // A double is nowhere near ten times what it was read from, nor a tenth: where their digits are equal, so are they.
  const said = significantDigits(token);
  return said === significantDigits(shortest) || said === exactDigits(value);
}

/** Without sign, point, exponent and the zeros at either end; zero has no digits. */
function significantDigits(token: string): string {
  return withoutOuterZeros(token.replace(/[eE].*|[-.]/g, ''));
}

/** All significant digits of a double: m / 2^k is m × 5^k / 10^k, and in base 2 its digits end. */
function exactDigits(value: number): string {
  const [whole, fraction = ''] = Math.abs(value).toString(2).split('.');
  return withoutOuterZeros(String(BigInt(`0b${whole}${fraction}`) * 5n ** BigInt(fraction.length)));
}

/** Without a regular expression: looking for zeros at the end takes quadratic time. */
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

/** Digits, `+`, `-`, `.`, `e`, `E`: in valid JSON a run of them is one number. */
function isNumberUnit(unit: number): boolean {
  return isDigit(unit) || unit === 43 || unit === MINUS || unit === 46 || unit === 69 || unit === 101;
}
