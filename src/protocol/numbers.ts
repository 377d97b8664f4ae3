/**
 * Numbers in JSON text that a double cannot carry.
 *
 * A number passes when it is what a JavaScript client would have written for some double (`0.1`, also as `0.10` or `1e-1`),
 * or when a double equals it exactly (`9007199254740994`, `1180591620717411303424`).
 */

// Fifteen significant digits always survive; a number with more has a run of digits and points this long.
const suspicious = /[\d.]{16}|\d[eE]/;

const QUOTE = 34;
const MINUS = 45;
const BACKSLASH = 92;

/** The offset of the first number that would change as a double, or undefined. `text` must be valid JSON. Linear time. */
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
  const said = toDecimal(token);
  return equals(said, toDecimal(shortest)) || equals(said, exactDecimal(value));
}

/** `digits × 10^exponent`, digits without zeros at either end; zero has no digits. Signs never differ here. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

function toDecimal(token: string): Decimal {
  const unsigned = token.startsWith('-') ? token.slice(1) : token;
  const e = unsigned.search(/[eE]/);
  const mantissa = e === -1 ? unsigned : unsigned.slice(0, e);
  const point = mantissa.indexOf('.');
  const fraction = point === -1 ? '' : mantissa.slice(point + 1);
  const whole = point === -1 ? mantissa : mantissa.slice(0, point);
  return normalize(whole + fraction, (e === -1 ? 0 : Number(unsigned.slice(e + 1))) - fraction.length);
}

/** All decimal digits of a double: m / 2^k is m × 5^k / 10^k, and in base 2 its digits end. */
function exactDecimal(value: number): Decimal {
  const [whole = '', fraction = ''] = Math.abs(value).toString(2).split('.');
  const digits = BigInt(`0b${whole}${fraction}`) * 5n ** BigInt(fraction.length);
  return normalize(digits.toString(), -fraction.length);
}

function normalize(digits: string, exponent: number): Decimal {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return start === end
    ? { digits: '', exponent: 0 }
    : { digits: digits.slice(start, end), exponent: exponent + digits.length - end };
}

function equals(a: Decimal, b: Decimal): boolean {
  return a.exponent === b.exponent && a.digits === b.digits;
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
  while (end < text.length && isNumberUnit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** Digits, `+`, `-`, `.`, `e`, `E`: in valid JSON a run of them is one number. */
function isNumberUnit(unit: number): boolean {
  return isDigit(unit) || unit === 43 || unit === MINUS || unit === 46 || unit === 69 || unit === 101;
}
