/** Before each test file: says which Postgres it has, and how long tests wait for something to happen. */
import { vi } from 'vitest';

const clusters = process.env.TIDEMARK_TEST_CLUSTERS!.split(' ');
process.env.TIDEMARK_TEST_CLUSTER = clusters[Number(process.env.VITEST_POOL_ID) % clusters.length]!;

// By itself, Vitest waits for a second, which a busy machine may exceed.
const timeout = 10_000;
const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, typeof options === 'number' ? options : { timeout, ...options });
