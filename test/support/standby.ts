/** A hot standby that can be paused, killed, stopped, promoted and rebuilt. */
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedDatabase, startEmbedded } from '../../packages/embedded-postgres/src/start.js';
import { binariesUnderTest } from './cluster.js';

/** The options to start a standby with. */
export interface StandbyOptions {
  /** Its data is in the folder `postgres` below this one. */
  readonly directory: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly primary: EmbeddedDatabase;
}

export class Standby {
  #options: StandbyOptions;
  #database: EmbeddedDatabase;
  #client: pg.Client;
  #isPaused = false;

  private constructor(options: StandbyOptions, database: EmbeddedDatabase, client: pg.Client) {
    this.#options = options;
    this.#database = database;
    this.#client = client;
  }

  static async start(options: StandbyOptions): Promise<Standby> {
    const database = await startDatabase(options);
    return new Standby(options, database, await connect(database.url));
  }

  get url(): string {
    return this.#database.url;
  }

  /** After this resolves, nothing more is replayed until `resume`. */
  async pause(): Promise<void> {
    await this.#client.query('select pg_wal_replay_pause()');
    const sql = `select pg_get_wal_replay_pause_state() = 'paused' as done`;
    while (!(await this.#client.query<{ done: boolean }>(sql)).rows[0]!.done) await sleep(5);
    this.#isPaused = true;
  }

  async resume(): Promise<void> {
    if (this.#isPaused) await this.#client.query('select pg_wal_replay_resume()');
    this.#isPaused = false;
  }

  /** Waits until the standby has replayed everything up to this position. */
  async reaches(lsn: string): Promise<void> {
    const sql = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done';
    while (!(await this.#client.query<{ done: boolean }>(sql, [lsn])).rows[0]!.done) await sleep(5);
  }

  /** Makes it a primary with a history of its own. */
  async promote(): Promise<void> {
    await this.resume();
    await this.#client.query('select pg_promote()');
  }

  /** Kills all of its processes at the same time, without notice to its clients. It restarts automatically. */
  async kill(): Promise<void> {
    const pid = readFileSync(join(this.#database.dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    // Its children detect only after a while that it is gone.
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const one of [pid, ...children]) process.kill(Number(one), 'SIGKILL');
    await this.#client.end().catch(() => {});
    this.#isPaused = false;
    let isLost = false;
    void this.#database.lost.then(() => {
      isLost = true;
    });
    for (;;) {
      await sleep(50);
      try {
        this.#client = await connect(this.url);
        return;
      } catch {
        // Not yet, or never if it has been killed too often.
        if (isLost) break;
      }
    }
    await this.#database.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#client.end().catch(() => {});
    await this.#database.stop();
  }

  /** Starts it again after `stop`. */
  async start(): Promise<void> {
    this.#isPaused = false;
    this.#database = await startDatabase(this.#options);
    this.#client = await connect(this.#database.url);
  }

  /** Stops it, and starts it again as a standby of another, promoted one. */
  async follow(promoted: Standby): Promise<void> {
    const primary = promoted.#database;
    const settings = { ...this.#options.settings, primary_conninfo: following(primary, 'follower') };
    this.#options = { ...this.#options, primary, settings };
    await this.rebuild();
  }

  /**
   * Stops it, and starts it again as if restored from a backup and an archive: it replays the archive's files, and
   * becomes a primary.
   */
  async restore(archive: string): Promise<void> {
    await this.stop();
    const { directory, settings } = this.#options;
    rmSync(join(directory, 'postgres', 'standby.signal'));
    writeFileSync(join(directory, 'postgres', 'recovery.signal'), '');
    const { primary_conninfo: _, ...others } = settings;
    this.#options = { ...this.#options, settings: { ...others, restore_command: `cp "${archive}/%f" "%p"` } };
    await this.start();
    while ((await this.#client.query('select pg_is_in_recovery() as is')).rows[0].is) await sleep(20);
  }

  /** Stops it, and starts it again with a copy of the primary's current data. */
  async rebuild(): Promise<void> {
    await this.stop();
    const { primary, directory } = this.#options;
    await copyData(primary, join(directory, 'postgres'));
    await this.start();
  }
}

/** The connection string with which a standby connects to a primary. */
export function following(primary: EmbeddedDatabase, name: string): string {
  const url = new URL(primary.url);
  url.pathname = '';
  url.searchParams.set('application_name', name);
  return url.href;
}

function startDatabase({ directory, port, settings }: StandbyOptions): Promise<EmbeddedDatabase> {
  return startEmbedded({ ...binariesUnderTest(), directory, port, settings });
}

/** Files of the running server, which are not part of its data. */
const left = /^(postmaster\.(pid|opts)|(pg_wal|pg_stat_tmp|pg_replslot)\/.*)$/;

/** Copies data as `pg_basebackup` does, which the binaries do not include. */
async function copyData(primary: EmbeddedDatabase, to: string): Promise<void> {
  const client = await connect(primary.url);
  try {
    await client.query(`select pg_backup_start('copy', true)`);
    copyFiles(primary.dataDirectory, to);
    const { rows } = await client.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)');
    const { uid, gid } = statSync(to);
    for (const [name, text] of [
      ['backup_label', rows[0]!.label],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(join(to, name), text);
      chownSync(join(to, name), uid, gid);
    }
  } finally {
    await client.end();
  }
}

/** Tolerates files that appear or disappear during the copy. */
function copyFiles(from: string, to: string): void {
  const { uid, gid } = statSync(to);
  rmSync(to, { recursive: true });
  mkdirSync(to, { mode: 0o700 });
  chownSync(to, uid, gid);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const name = relative(from, join(entry.parentPath, entry.name));
    if (left.test(name)) continue;
    const copy = join(to, name);
    if (entry.isDirectory()) mkdirSync(copy, { mode: 0o700 });
    else if (!copied(join(from, name), copy)) continue;
    chownSync(copy, uid, gid);
  }
}

function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return client;
}
