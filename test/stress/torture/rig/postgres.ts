/** A separate Postgres that can be killed. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type EmbeddedDatabase, startEmbedded } from '../../../../packages/embedded-postgres/src/start.js';
import { binariesUnderTest } from '../../../support/cluster.js';
import { createPool } from '../../../support/database.js';
import { freePort, livingPostgres } from '../../../support/process.js';

/**
 * A killed process loses nothing that it has written, so flushing would prove nothing more, and take longer. There is
 * no archive to restore from.
 */
const settings = { fsync: 'off', jit: 'off', max_connections: '200', restore_command: 'false' };

export class Postgres {
  readonly #folder: string;
  #database: EmbeddedDatabase;
  /** For reads and writes of the test itself. */
  readonly pool: pg.Pool;

  private constructor(folder: string, database: EmbeddedDatabase) {
    this.#folder = folder;
    this.#database = database;
    this.pool = createPool(database.url, 10);
  }

  /** @param password The user's password. Default: a new one. */
  static async start(password?: string): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'tidemark-torture-'));
    const connection = JSON.stringify({ port: await freePort(), password });
    if (password !== undefined) writeFileSync(join(folder, 'connection.json'), connection);
    return new Postgres(folder, await startIn(folder));
  }

  get url(): string {
    return this.#database.url;
  }

  /** Kills the whole server with SIGKILL. */
  async kill(): Promise<void> {
    const pid = livingPostgres(this.#database.dataDirectory);
    process.kill(pid!, 'SIGKILL');
    await this.stop();
  }

  /** Sends SIGKILL to a backend of the servers. Postgres ends all others too, and recovers automatically. */
  async killBackend(): Promise<void> {
    const { rows } = await this.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name like 'tidemark%' order by xact_start nulls last limit 1`,
    );
    if (rows[0]) process.kill(rows[0].pid, 'SIGKILL');
  }

  stop(): Promise<void> {
    return this.#database.stop();
  }

  /** Starts it again at the same address. */
  async start(): Promise<void> {
    this.#database = await startIn(this.#folder, Number(new URL(this.url).port));
  }

  /** Copies its files as a backup. It must not be running. */
  backUp(): void {
    copy(this.#database.dataDirectory, join(this.#folder, 'backup'));
  }

  /** Replaces its files by the backup, to recover from. It must not be running. */
  restore(): void {
    rmSync(this.#database.dataDirectory, { recursive: true });
    copy(join(this.#folder, 'backup'), this.#database.dataDirectory);
    writeFileSync(join(this.#database.dataDirectory, 'recovery.signal'), '');
  }

  /** Starts a standby of it from a copy of its files. Stops and starts it for that. */
  async startStandby(): Promise<Postgres> {
    await this.stop();
    appendFileSync(
      join(this.#database.dataDirectory, 'pg_hba.conf'),
      '\nhost replication all 127.0.0.1/32 scram-sha-256\n',
    );
    const folder = mkdtempSync(join(tmpdir(), 'tidemark-torture-'));
    copy(`${this.#folder}/.`, folder);
    writeFileSync(join(folder, 'postgres', 'standby.signal'), '');
    await this.start();
    const follow = new URL(this.url);
    follow.pathname = '';
    return new Postgres(folder, await startIn(folder, await freePort(), { primary_conninfo: follow.href }));
  }

  /** Promotes a standby. */
  async promote(): Promise<void> {
    await this.pool.query('select pg_promote()');
  }

  /** Stops it, and removes its data. */
  async remove(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Retries while a surviving process still holds the port. */
async function startIn(directory: string, port?: number, more = {}): Promise<EmbeddedDatabase> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startEmbedded({ directory, port, settings: { ...settings, ...more }, ...binariesUnderTest() });
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(200);
    }
  }
}

function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}
