/** A database for one case, the connections to it, and a pool that lets others go first. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** A pool that says when a connection is taken, which is before each statement. */
export class GatedPool extends pg.Pool {
  before: (() => Promise<void>) | undefined;

  // biome-ignore lint/suspicious/noExplicitAny: the driver's overloads say no more than this
  override connect(...args: any[]): any {
    const connect = () => super.connect(...(args as []));
    return this.before ? this.before().then(connect) : connect();
  }
}

export class CaseDatabase {
  readonly url: string;
  readonly #drop: () => Promise<void>;
  readonly #closers: (() => Promise<unknown>)[] = [];

  private constructor(url: string, drop: () => Promise<void>) {
    this.url = url;
    this.#drop = drop;
  }

  static async create(cluster: string): Promise<CaseDatabase> {
    const name = `fuzz_${randomUUID().replaceAll('-', '')}`;
    await onCluster(cluster, `create database ${name}`);
    const address = new URL(cluster);
    address.pathname = name;
    return new CaseDatabase(address.href, () => onCluster(cluster, `drop database if exists ${name} with (force)`));
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    this.#closers.push(() => client.end());
    return client;
  }

  /** @param settings for the planner, as `-c` takes them */
  openPool(settings: readonly string[] = []): GatedPool {
    const options = settings.map((setting) => `-c ${setting}`).join(' ');
    const pool = new GatedPool({ connectionString: this.url, max: 4, options });
    pool.on('error', () => {});
    this.#closers.push(() => pool.end());
    return pool;
  }

  /** What is to be closed before the connections. */
  onClose(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close().catch(() => {});
    await this.#drop();
  }
}

async function onCluster(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Runs a statement, or a COPY that has its data with it. */
export async function run(client: pg.Client, text: string): Promise<void> {
  const copied = /^(copy .*? from stdin);\n([\s\S]*\n)\\\.$/.exec(text);
  if (copied) await pipeline(Readable.from([copied[2]!]), client.query(copyFrom(copied[1]!)));
  else await client.query(text);
}
