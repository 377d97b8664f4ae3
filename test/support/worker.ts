/** Before each test file: sets its Postgres, and the time that tests wait for something to happen. */
import { vi } from 'vitest';

const clusters = process.env.TIDEMARK_TEST_CLUSTERS!.split(' ');
const index = Number(process.env.VITEST_POOL_ID) % clusters.length;
process.env.TIDEMARK_TEST_CLUSTER = clusters[index]!;
process.env.TIDEMARK_TEST_POOLER = '';
if (process.env.TIDEMARK_TEST_POOLED) {
  // Empty if pgbouncer is missing.
  const poolers = process.env.TIDEMARK_TEST_POOLERS;
  if (poolers === undefined) throw new Error('The project runs through a pooler, and none was started');
  process.env.TIDEMARK_TEST_POOLER = poolers.split(' ')[index] ?? '';
}

// Vitest waits for a second by default, which a busy machine may exceed.
const timeout = 10_000;
const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, typeof options === 'number' ? options : { timeout, ...options });

// Removes Node's own listener, which prints warnings, too: what it would print fails the run.
process.removeAllListeners('warning');
process.on('warning', ({ stack }) => {
  throw new Error(stack);
});
