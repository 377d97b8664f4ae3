import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** How Node begins a warning. */
const pattern = /^\(node:\d+\) .*Warning: /;

/** Has Node's warnings in another process be warnings of this one: they fail the tests. */
export function heedWarnings(stderr: Readable): void {
  createInterface({ input: stderr }).on('line', (line) => {
    if (pattern.test(line)) process.emitWarning(line);
  });
}
