/** Before each test file: says which Postgres it has, and how long tests wait for something to happen. */
import { vi } from 'vitest';
import { pgbouncerIsMissing } from './pgbouncer.js';

const clusters = process.env.TIDEMARK_TEST_CLUSTERS!.split(' ');
const place = Number(process.env.VITEST_POOL_ID) % clusters.length;
process.env.TIDEMARK_TEST_CLUSTER = clusters[place]!;
const isPooled = process.env.TIDEMARK_TEST_POOLED && !pgbouncerIsMissing;
process.env.TIDEMARK_TEST_POOLER = isPooled ? process.env.TIDEMARK_TEST_POOLERS!.split(' ')[place]! : '';
if (isPooled && !process.env.TIDEMARK_TEST_POOLER)
  throw new Error('The project runs through a pooler, and none is there');

// By itself, Vitest waits for a second, which a busy machine may exceed.
const timeout = 10_000;
const { waitFor } = vi;
vi.waitFor = (callback, options) => waitFor(callback, typeof options === 'number' ? options : { timeout, ...options });

// Node's own listener, which prints them, goes too: what it would print fails the run.
process.removeAllListeners('warning');
process.on('warning', ({ stack }) => {
  throw new Error(stack);
});
