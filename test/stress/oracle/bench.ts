/** Two databases, the code under test with its nodes on one of them, and the oracle beside it. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from '../../../packages/tidemark/src/log.js';
import type { ConsistencyState } from '../../../packages/tidemark/src/pulls/consistency-checker.js';
import type { Sync } from '../../../packages/tidemark/src/server.js';
import { silent } from '../../support/log.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import type { Replication } from '../../support/replication.js';
import type { Send } from './client.js';
import type { Code } from './code.js';
import { History, historySql } from './history.js';
import { Judge } from './judge.js';
import { runCount } from './pusher.js';
import type { Random } from './random.js';
import { Replica } from './replica.js';
import type { Report } from './report.js';
import { crowdSql, schemaSql } from './schema.js';
import { describeViews, toViews, type User, type ViewSpec } from './views.js';

/** The nodes' values of `cachedTransactions`: one cache holds everything new, one is always too small, one is off. */
const cacheSizes = [100_000, 3, 0];
const nodesOfPrimary = cacheSizes.length;
/** The index of the nodes that can use poolers. Their cache is always too small, so they query the most. */
const pooledIndex = 1;
/** The share of all client groups. */
const consistencyChecks = 0.5;

export interface NodeOptions {
  /** True if the primary's nodes read from the standbys; otherwise the standbys have nodes. Default false. */
  readonly readsFromStandbys?: boolean;
  readonly code: Code;
  readonly url: string;
  readonly specs: readonly ViewSpec[];
  readonly report: Report;
  readonly random: Random;
  /**
   * True if one of the nodes, and one of those that read from standbys, use poolers with fewer connections than the
   * node has. Default false.
   */
  readonly isPooled?: boolean;
}

export class Bench {
  readonly #cluster: string;
  readonly #replication: Replication | undefined;
  readonly #databases: string[] = [];
  readonly #nodes: Sync[] = [];
  readonly #closers: (() => Promise<unknown>)[] = [];

  /**
   * @param cluster a connection string for a cluster in which databases can be created
   * @param replication the cluster's standbys, if it has any: they get nodes too
   */
  constructor(cluster: string, replication?: Replication) {
    this.#cluster = cluster;
    this.#replication = replication;
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

  /** Installs the code under test, and returns a function that sends requests to its nodes in turn. */
  async startNodes(options: NodeOptions): Promise<Send> {
    const { code, url, specs, report, random, readsFromStandbys, isPooled = false } = options;
    const views = toViews(specs);
    await code.migrate({ database: url, views, log: silent });
    await this.#replication?.caughtUp();
    const mutators = code.defineMutators({ count: code.defineMutator<User>()(runCount) });
    const authenticate = (request: Request) => ({ userID: decodeURIComponent(request.headers.get('Authorization')!) });
    const start = async (pool: pg.Pool, index: number, readDatabase: readonly pg.Pool[] = []): Promise<Sync> => {
      for (const one of [pool, ...readDatabase]) one.on('connect', (client) => countShared(client, report));
      const log = nodeLog(report);
      const cachedTransactions = cacheSizes[index % cacheSizes.length]!;
      const options = {
        database: pool,
        readDatabase,
        views,
        mutators,
        authenticate,
        consistencyChecks,
        cachedTransactions,
        log,
      };
      const sync = await code.createSync(options);
      this.#closers.push(() => sync.close());
      this.#nodes.push(sync);
      return sync;
    };
    const standbys = this.#replication?.standbys.map((standby) => sameDatabase(url, standby.url)) ?? [];
    const indexes = Array.from({ length: nodesOfPrimary }, (_, index) => index);
    const direct = [url, ...standbys];
    const pooled = isPooled ? await Promise.all(direct.map((one) => this.#pool(one))) : direct;
    const open = (index: number) => {
      const [primary, ...replicas] = index === pooledIndex ? pooled : direct;
      return { primary: this.#openPool(primary!), standbys: () => replicas.map((one) => this.#openPool(one)) };
    };
    const onPrimary = await Promise.all(indexes.map((index) => start(open(index).primary, index)));
    const startReading = (index: number) => {
      const opened = open(index);
      return start(opened.primary, index, opened.standbys());
    };
    const readingNodes = readsFromStandbys ? await Promise.all(indexes.map(startReading)) : [];
    const pools = readsFromStandbys ? [] : standbys.map((one) => this.#openPool(one));
    if (pools.length > 0) pools.push(this.#openPool(url, { Client: balanced([url, ...standbys], random) }));
    const lagging = await Promise.all(pools.map((pool, index) => start(pool, index)));
    const able = [...onPrimary, ...readingNodes];
    let turn = 0;
    return async (path, userID, body) => {
      const candidates = path === '/sync/pull' ? [...able, ...lagging] : able;
      const node = standbys.length > 0 ? random.pick(candidates) : candidates[turn++ % candidates.length]!;
      const request = new Request(`http://oracle.test${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: encodeURIComponent(userID) },
        body: JSON.stringify(body),
      });
      const shows = onPrimary.includes(node) ? 'current' : readingNodes.includes(node) ? 'own writes' : 'any';
      return { response: await node.fetch(request), shows };
    };
  }

  /** Creates the application's tables, with the oracle's triggers. */
  async createApplication(crowd = 0): Promise<string> {
    const url = await this.createDatabase();
    const client = await this.connect(url);
    await client.query(schemaSql);
    await client.query(crowdSql(crowd));
    await client.query(historySql);
    return url;
  }

  /** @param forgets True if responses can no longer show old states. */
  async createJudge(url: string, specs: readonly ViewSpec[], report: Report, forgets: boolean): Promise<Judge> {
    const client = await this.connect(url);
    const replica = new Replica(await this.connect(await this.createDatabase()));
    await replica.setUp();
    const pool = this.#openPool(url, { max: 4 });
    return new Judge(await describeViews(client, specs), new History(pool), replica, { report, forgets });
  }

  /** The number of consistency checks that the nodes have performed. */
  async countConsistencyChecks(): Promise<number> {
    const answers = await Promise.all(this.#nodes.map(({ fetch }) => fetch(new Request('http://oracle.test/readyz'))));
    const states = (await Promise.all(answers.map((answer) => answer.json()))) as {
      consistencyChecks: ConsistencyState;
    }[];
    return states.reduce((sum, state) => sum + state.consistencyChecks.comparisons, 0);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    for (const name of this.#databases) await this.#onCluster(`drop database ${name} with (force)`);
  }

  /** The URL of a database through a pooler. */
  async #pool(url: string): Promise<string> {
    const pooler = await startPgBouncer(url, { size: 4 });
    this.#closers.push(() => pooler.stop());
    return pooler.url;
  }

  #openPool(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ connectionString, ...options });
    // `end` does not wait for the connections to close, so dropping the database may still break them.
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

/** Objects to inconsistencies that a node detects, and records why requests fail. */
function nodeLog(report: Report): Logger {
  const error = (fields: object, message: string) => {
    if (message.startsWith("A client's data does not match")) {
      report.object('consistency check', 'of a node', JSON.stringify(fields));
    }
  };
  const warn = (fields: object, message: string) => {
    if (message === 'A request failed' && 'requestID' in fields) report.causes.set(String(fields.requestID), fields);
  };
  return { debug() {}, info() {}, warn, error };
}

/** The URL of the database with that name in another cluster. */
function sameDatabase(url: string, cluster: string): string {
  const address = new URL(cluster);
  address.pathname = new URL(url).pathname;
  return address.href;
}

/** Clients that connect to a random one of these URLs, as through a load balancer. */
function balanced(urls: readonly string[], random: Random): typeof pg.Client {
  return class extends pg.Client {
    constructor() {
      super({ connectionString: random.pick(urls) });
    }
  };
}

/** Records how many pulls each of a connection's statements serves, by the number of its groups. */
function countShared(client: pg.PoolClient, { counts }: Report): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const watched = (statement: unknown, ...rest: unknown[]) => {
    const { text, values } = statement as { text?: string; values?: unknown[] };
    const groups = new Set((values ? JSON.stringify(values) : text)?.match(/"group \d+"/g));
    if (groups.size > 1) counts[isProbe(text) ? 'sharedProbes' : 'sharedDeltas'] += groups.size;
    return query(statement, ...rest);
  };
  client.query = watched as typeof client.query;
}

function isProbe(text: string | undefined): boolean {
  return text?.startsWith('select l::text as line from tidemark.poll(') === true && !text.includes('where');
}
