/** The code under test, but it evaluates two or more partitions in groups, because generated tables have few rows. */
import { loadBroken } from '../oracle/broken-copy.js';
import type { Code } from '../oracle/code.js';

export function loadGrouped(): Promise<Code> {
  return loadBroken('grouped', [
    { file: 'store/patches/delta.ts', find: 'const maxPartitions = 200;', replace: 'const maxPartitions = 1;' },
  ]);
}
