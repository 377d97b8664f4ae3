/** A real Postgres to test on, out of npm. TIDEMARK_TEST_POSTGRES=postgres-15 names another package's binaries. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../src/embedded/start.js';

export interface TestCluster {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<TestCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  const cluster = await startEmbedded({
    directory,
    settings: { fsync: 'off', max_connections: '300', max_prepared_transactions: '5' },
    ...binariesUnderTest(),
  });
  return {
    url: cluster.url,
    async stop() {
      await cluster.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Which Postgres to start: the option for `startEmbedded`. */
export function binariesUnderTest(): { readonly binaries?: string } {
  const name = process.env.TIDEMARK_TEST_POSTGRES;
  return name ? { binaries: fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url)) } : {};
}
