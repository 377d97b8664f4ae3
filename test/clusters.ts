/**
 * Before all tests: starts a Postgres for each worker. Workers must not share one: a transaction that is open in any
 * database of a cluster is in every snapshot of it, and a killed backend breaks every connection.
 */
import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.js';

export default async function startClusters({ vitest }: TestProject): Promise<() => Promise<void>> {
  const clusters = await Promise.all(Array.from({ length: vitest.config.maxWorkers }, () => startCluster()));
  process.env.TIDEMARK_TEST_CLUSTERS = clusters.map(({ url }) => url).join(' ');
  return async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  };
}
