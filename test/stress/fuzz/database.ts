/** A case's database, its connections, and a pool in which other transactions can run before each statement. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { sameFormats } from '../../../packages/tidemark/src/db/own-settings.js';

/** A pool that reports each checkout of a connection, which precedes each statement. */
export class HookedPool extends pg.Pool {
  before: (() => Promise<void>) | undefined;

  // biome-ignore lint/suspicious/noExplicitAny: the driver's overloads say no more than this
  override connect(...args: any[]): any {
    const connect = () => super.connect(...(args as []));
    return this.before ? this.before().then(connect) : connect();
  }
}

/** A cluster's databases. They are reused, because creating one takes longer than emptying one. */
export class Databases {
  readonly #cluster: string;
  readonly #free: string[] = [];
  readonly #all: string[] = [];

  /** @param cluster A connection string for a cluster in which databases can be created. */
  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  async take(): Promise<CaseDatabase> {
    return new CaseDatabase(this.#free.pop() ?? (await this.#create()));
  }

  /** Takes a database back after its connections are closed. One that cannot be emptied is not used again. */
  async give(database: CaseDatabase): Promise<void> {
    await database.close();
    await onDatabase(database.url, emptied)
      .then(() => this.#free.push(database.url))
      .catch(() => {});
  }

  async close(): Promise<void> {
    for (const name of this.#all) await onDatabase(this.#cluster, `drop database ${name} with (force)`);
  }

  async #create(): Promise<string> {
    const name = `fuzz_${randomUUID().replaceAll('-', '')}`;
    await onDatabase(this.#cluster, `create database ${name}`);
    this.#all.push(name);
    const address = new URL(this.#cluster);
    address.pathname = name;
    // In a schema that dropping all schemas leaves alone.
    await onDatabase(address.href, 'create extension citext schema pg_catalog');
    return address.href;
  }
}

/** Drops everything that a case has created. Tidemark's own schema stays, as it would in an application. */
const emptied = `
do $$
declare name text;
begin
  execute format('alter database %I reset all', current_database());
  execute format('alter role %I in database %I reset all', current_user, current_database());
  drop publication if exists everything;
  for name in
    select quote_ident(nspname) from pg_namespace
    where nspname !~ '^pg_' and nspname not in ('information_schema', 'tidemark')
  loop
    execute 'drop schema ' || name || ' cascade';
  end loop;
  create schema public;
end $$`;

/** The connections to a case's database. */
export class CaseDatabase {
  readonly url: string;
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /**
   * Connects for statements of the case itself. They have a timeout, because some joins of everything with everything
   * would run forever.
   */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, statement_timeout: 3_000 });
    client.on('error', () => {});
    await client.connect();
    this.#closers.push(() => client.end());
    return client;
  }

  /**
   * Connects for reads that are compared with a server's. A server writes values in formats of its own, and reads a
   * view's text by the SQL standard.
   */
  async connectReader(): Promise<pg.Client> {
    const client = await this.connect();
    await client.query(`${sameFormats.replaceAll('set local', 'set')}; set standard_conforming_strings = on`);
    return client;
  }

  /** @param settings Planner settings, as `-c` takes them. */
  openPool(settings: readonly string[] = []): HookedPool {
    const options = settings.map((setting) => `-c ${setting}`).join(' ');
    const pool = new HookedPool({ connectionString: this.url, max: 4, options });
    pool.on('error', () => {});
    this.#closers.push(() => pool.end());
    return pool;
  }

  /** Registers what must be closed before the connections. */
  onClose(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close().catch(() => {});
  }
}

/** The cluster's major version. */
export async function postgresVersion(cluster: string): Promise<number> {
  const { rows } = await onDatabase(cluster, `select current_setting('server_version_num')::int / 10000 as version`);
  return (rows as { version: number }[])[0]!.version;
}

async function onDatabase(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
/** Runs a statement, or a COPY together with its data. */
export async function run(client: pg.Client, text: string): Promise<void> {
  const copied = /^(copy .*? from stdin);\n([\s\S]*\n)\\\.$/.exec(text);
  if (copied) await pipeline(Readable.from([copied[2]!]), client.query(copyFrom(copied[1]!)));
  else await client.query(text);
}
