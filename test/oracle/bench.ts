/** Two databases, the code under test over one of them on two nodes, and the oracle beside it. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from '../../src/log.js';
import type { Send } from './client.js';
import type { Code } from './code.js';
import { History, historySql } from './history.js';
import { Judge } from './judge.js';
import { runCount } from './pusher.js';
import { Replica } from './replica.js';
import type { Report } from './report.js';
import { schemaSql } from './schema.js';
import { describeViews, toViews, type User, type ViewSpec } from './views.js';

const nodes = 2;
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export class Bench {
  readonly #cluster: string;
  readonly #databases: string[] = [];
  readonly #closers: (() => Promise<unknown>)[] = [];

  /** @param cluster a connection string for a cluster in which databases can be created */
  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  /** Creates a database and returns its URL. */
  async createDatabase(): Promise<string> {
    const name = `oracle_${randomUUID().replaceAll('-', '')}`;
    await this.#onCluster(`create database ${name}`);
    this.#databases.push(name);
    const address = new URL(this.#cluster);
    address.pathname = name;
    return address.href;
  }

  async connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    this.#closers.push(() => client.end());
    return client;
  }

  /** Installs the code under test and returns the way to its nodes, which take turns. */
  async startNodes(code: Code, url: string, specs: readonly ViewSpec[], report: Report): Promise<Send> {
    const views = toViews(specs);
    await code.migrate({ database: url, views });
    const mutators = code.defineMutators({ count: code.defineMutator<User>()(runCount) });
    const authenticate = (request: Request) => ({ userID: decodeURIComponent(request.headers.get('Authorization')!) });
    const syncs = await Promise.all(
      Array.from({ length: nodes }, () => {
        const pool = this.#openPool(url);
        pool.on('connect', (client) => countShared(client, report));
        return code.createSync({ database: pool, views, mutators, authenticate, log: silent, basePath: '/sync' });
      }),
    );
    for (const sync of syncs) this.#closers.push(() => sync.close());
    let turn = 0;
    return (path, userID, body) =>
      syncs[turn++ % nodes]!.fetch(
        new Request(`http://oracle.test${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: encodeURIComponent(userID) },
          body: JSON.stringify(body),
        }),
      );
  }

  /** Sets up the application's tables, with the oracle's eyes on them. */
  async createApplication(): Promise<string> {
    const url = await this.createDatabase();
    const client = await this.connect(url);
    await client.query(schemaSql);
    await client.query(historySql);
    return url;
  }

  async createJudge(url: string, specs: readonly ViewSpec[], report: Report): Promise<Judge> {
    const client = await this.connect(url);
    const replica = new Replica(await this.connect(await this.createDatabase()));
    await replica.setUp();
    const pool = this.#openPool(url, 4);
    return new Judge(await describeViews(client, specs), new History(pool), replica, report);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    for (const name of this.#databases) await this.#onCluster(`drop database ${name} with (force)`);
  }

  #openPool(connectionString: string, max = 10): pg.Pool {
    const pool = new pg.Pool({ connectionString, max });
    // Its end does not wait for the connections, which the end of the database may then still break.
    pool.on('error', () => {});
    this.#closers.push(() => pool.end());
    return pool;
  }

  async #onCluster(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#cluster });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }
}

/** Notes how many pulls each of a connection's statements serves: how many groups it asks about. */
function countShared(client: pg.PoolClient, { counts }: Report): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const watched = (statement: unknown, ...rest: unknown[]) => {
    const { name, text, values } = statement as { name?: string; text?: string; values?: unknown[] };
    const groups = (name === 'tidemark_probe' ? JSON.stringify(values) : text)?.match(/"group \d+"/g) ?? [];
    if (groups.length > 1) counts[name === undefined ? 'sharedDeltas' : 'sharedProbes'] += groups.length;
    return query(statement, ...rest);
  };
  client.query = watched as typeof client.query;
}
