/** A primary and its hot standbys, each of them a real Postgres. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../packages/embedded-postgres/src/start.js';
import { binariesUnderTest, startCluster } from './cluster.js';
import { connect, following, Standby } from './standby.js';

export type { Standby } from './standby.js';

export interface Replication {
  /** The URL of the database `tidemark` on the primary. */
  readonly primaryURL: string;
  /** The data folder of the primary. */
  readonly dataDirectory: string;
  readonly standbys: readonly Standby[];
  /** Waits until every standby has replayed everything that the primary has written. */
  caughtUp(): Promise<void>;
  /** Stops only the primary. */
  stopPrimary(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicationOptions {
  /** The delay with which each standby replays a commit, in milliseconds. */
  readonly delays: readonly number[];
  /**
   * The standby that the primary waits for before it shows a commit with a `synchronous_commit` other than `local`, the
   * default here: `standby_0`, `standby_1`, …, or one that does not exist.
   */
  readonly waitsFor: string;
  /** Settings of the primary and of the standbys, which override those that tests run with. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The servers of a long run: a cluster, or a primary with standbys. */
export interface ServersUnderTest {
  readonly cluster: string;
  readonly replication?: Replication;
  stop(): Promise<void>;
}

/** @param standbys undefined for a cluster without standbys */
export async function startServers(standbys: ReplicationOptions | undefined): Promise<ServersUnderTest> {
  if (standbys) {
    const replication = await startReplication(standbys);
    return { cluster: replication.primaryURL, replication, stop: () => replication.stop() };
  }
  const { url, stop } = await startCluster();
  return { cluster: url, stop };
}

/** With these settings, a standby that was away still finds everything that it has missed. */
const common = { fsync: 'off', max_connections: '100', hot_standby_feedback: 'on', wal_keep_size: '1GB' };

export async function startReplication({ delays, waitsFor, settings }: ReplicationOptions): Promise<Replication> {
  const all = { ...common, ...settings };
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-replication-'));
  const options = { settings: all, ...binariesUnderTest() };
  const first = join(folder, 'primary');
  const draft = await startEmbedded({ directory: first, ...options });
  await draft.stop();
  appendFileSync(join(first, 'postgres', 'pg_hba.conf'), '\nhost replication all 127.0.0.1/32 scram-sha-256\n');
  for (const i of delays.keys()) {
    execFileSync('cp', ['-a', first, join(folder, `standby ${i}`)]);
    writeFileSync(join(folder, `standby ${i}`, 'postgres', 'standby.signal'), '');
  }
  const waiting = { synchronous_standby_names: waitsFor, synchronous_commit: 'local' };
  const primary = await startEmbedded({ ...options, directory: first, settings: { ...all, ...waiting } });
  const standbys: Standby[] = [];
  for (const [i, delay] of delays.entries()) {
    const primary_conninfo = following(primary, `standby_${i}`);
    const settingsOfStandby = { ...all, primary_conninfo, recovery_min_apply_delay: `${delay}ms` };
    const directory = join(folder, `standby ${i}`);
    standbys.push(await Standby.start({ primary, directory, port: await freePort(), settings: settingsOfStandby }));
  }
  const observer = await connect(primary.url);
  return {
    primaryURL: primary.url,
    dataDirectory: primary.dataDirectory,
    standbys,
    async caughtUp() {
      const { rows } = await observer.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
      await Promise.all(standbys.map((standby) => standby.reaches(rows[0]!.lsn)));
    },
    stopPrimary: () => primary.stop(),
    async stop() {
      await observer.end();
      for (const standby of standbys) await standby.stop();
      await primary.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
