/**
 * Starts a Postgres for each worker, before all tests. Workers must not share one: a transaction that is open in any
 * database of a cluster is in every snapshot of it, and a killed backend breaks every connection. Each cluster has a
 * pooler, for the tests that run again through one.
 */
import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.js';
import { pgbouncerIsMissing, startPgBouncer } from './pgbouncer.js';

export default async function startClusters({ vitest }: TestProject): Promise<() => Promise<void>> {
  const clusters = await Promise.all(Array.from({ length: vitest.config.maxWorkers }, () => startCluster()));
  process.env.TIDEMARK_TEST_CLUSTERS = clusters.map(({ url }) => url).join(' ');
  const isPooled = vitest.projects.some(({ config }) => config.env?.TIDEMARK_TEST_POOLED);
  if (isPooled && pgbouncerIsMissing) console.warn('There is no pgbouncer: the project `long pooled` runs without it.');
  // Large enough for a test that holds many transactions open.
  const poolers =
    isPooled && !pgbouncerIsMissing
      ? await Promise.all(clusters.map(({ url }) => startPgBouncer(url, { size: 20 })))
      : [];
  if (isPooled) process.env.TIDEMARK_TEST_POOLERS = poolers.map(({ url }) => url).join(' ');
  return async () => {
    await Promise.all(poolers.map((pooler) => pooler.stop()));
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  };
}
