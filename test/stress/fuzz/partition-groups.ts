/** The code under test, but it evaluates partitions in groups if there are more than one: generated tables have few rows. */
import { loadBroken } from '../oracle/broken-copy.js';
import type { Code } from '../oracle/code.js';

export function loadGrouped(): Promise<Code> {
  const file = 'store/patches/delta.ts';
  return loadBroken('grouped', [{ file, find: 'const mostPartitions = 200;', replace: 'const mostPartitions = 1;' }]);
}
