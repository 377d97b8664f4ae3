import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The beginning of a warning of Node. */
const pattern = /^\(node:\d+\) .*Warning: /;

/** Turns the Node warnings of another process into warnings of this one, which fail the tests. */
export function heedWarnings(stderr: Readable): void {
  createInterface({ input: stderr }).on('line', (line) => {
    if (pattern.test(line)) process.emitWarning(line);
  });
}
