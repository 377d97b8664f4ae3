/** Captured tables whose definition a test changes, with a running server and a client that has pulled. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { Problem } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import type { Views } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, createPool, type TestDatabase, versionOf } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { type Context, fullRead, installationOf, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

export interface Altered {
  /** Runs statements in one transaction, on a connection to the tables' schema. */
  run(sql: string): Promise<unknown>;
  /** Runs one statement that must be alone in its transaction. */
  runAlone(sql: string): Promise<void>;
  readonly client: SyncClient;
  /** A client of the same server that has not pulled. */
  newcomer(): SyncClient;
  /** A client, which has not pulled, of another server, which starts now. */
  elsewhere(): SyncClient;
  /** Makes a server's cached schema state expire, which it keeps for a second. Needs fake dates. */
  passASecond(): void;
  migrate(): Promise<void>;
  schemaState(): ReturnType<typeof installationOf>;
  /** The data that a new client receives from a server that starts now. */
  truth(): Promise<Record<string, unknown>>;
  /** A connection string for the tables' schema. */
  readonly url: string;
  close(): Promise<void>;
}

export interface Setting {
  readonly views?: Views<Context> | undefined;
  /** Additional settings of the server's sessions, as the option `-c` takes them. */
  readonly session?: string;
  /** The role that the server connects as. Default: the owner. */
  readonly role?: string;
}

export interface AlteredTables {
  readonly database: TestDatabase;
  /** The version of Postgres, as in `server_version_num`. */
  readonly version: number;
  /** Creates tables in a schema of their own, which last until the end of the test. */
  start(ddl: string, setting?: Setting): Promise<Altered>;
}

/** A database for the tests of a file, which use fake dates. */
export function useAltered(): AlteredTables {
  let database: TestDatabase;
  let version: number;
  const started: Altered[] = [];
  beforeAll(async () => {
    database = await createEmptyDatabase();
    version = await versionOf(database.pool);
    // A server must not read the tables again while a test locks them, because it would wait instead of the pulls.
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(async () => {
    for (const altered of started.splice(0)) await altered.close();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await database.drop();
  });
  return {
    get database() {
      return database;
    },
    get version() {
      return version;
    },
    async start(ddl, setting) {
      const altered = await alter(database, ddl, setting);
      started.push(altered);
      return altered;
    },
  };
}

/** Checks that clients that pulled before a server detected a change keep nothing that the change showed. */
export async function expectForgotten(altered: Altered, change: string, undo: string): Promise<void> {
  const { run, client, newcomer, passASecond, truth } = altered;
  const clients = [client, newcomer()];
  passASecond();
  await client.pull();
  await run(change);
  for (const one of clients) await one.pull().catch((error: unknown) => expect(error).toBeInstanceOf(Problem));
  await run(undo);
  passASecond();
  for (const one of clients) {
    await one.pull();
    expect(one.held()).toEqual(await truth());
  }
}

let schemas = 0;

function urlOf({ url }: TestDatabase, schema: string, { session, role }: Setting = {}): string {
  const address = new URL(url);
  const more = session === undefined ? '' : `-c ${session}`;
  address.searchParams.set('options', `-c search_path=${schema},public ${more}`);
  if (role !== undefined) {
    address.username = role;
    address.password = 'x';
  }
  return address.href;
}

async function alter(database: TestDatabase, ddl: string, setting: Setting = {}): Promise<Altered> {
  const { views = wholeTable('t'), session, role } = setting;
  const schema = `gap_${++schemas}`;
  const url = urlOf(database, schema);
  const run = (sql: string) => database.pool.query(`set search_path to ${schema}, public; ${sql}; reset search_path`);
  const runAlone = async (sql: string) => {
    const alone = new pg.Client({ connectionString: url });
    await alone.connect();
    await alone.query(sql).finally(() => alone.end());
  };
  const owner = createPool(url, 3);
  await run(`create schema ${schema}; ${ddl}`);
  await migrate({ database: owner, views, log: silent });
  if (role !== undefined) {
    await run(`grant usage on schema ${schema}, tidemark to ${role};
      grant select on all tables in schema ${schema}, tidemark to ${role}`);
  }
  const served = session === undefined && role === undefined ? owner : createPool(urlOf(database, schema, setting), 3);
  const servers: PullServer[] = [];
  const start = () => {
    const server = new PullServer(served, views);
    servers.push(server);
    return server;
  };
  const server = start();
  const client = new SyncClient(server);
  await client.pull();
  return {
    run,
    runAlone,
    client,
    newcomer: () => new SyncClient(server),
    elsewhere: () => new SyncClient(start()),
    passASecond: () => void vi.advanceTimersByTime(1100),
    migrate: () => migrate({ database: owner, views, log: silent }),
    schemaState: () => installationOf(owner, views),
    truth: async () => {
      const server = new PullServer(served, views);
      return fullRead(server).finally(() => server.close());
    },
    url,
    async close() {
      for (const server of servers) await server.close();
      for (const pool of new Set([owner, served])) await pool.end();
    },
  };
}
