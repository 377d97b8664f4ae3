/** Two databases, the code under test over one of them on its nodes, and the oracle beside it. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Logger } from '../../../src/log.js';
import type { AuditState } from '../../../src/pulls/auditor.js';
import type { Sync } from '../../../src/server.js';
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

/** The sizes of the nodes' windows: one holds all that is new, one is always short, one holds nothing. */
const windows = [100_000, 3, 0];
const nodesOfPrimary = windows.length;
/** The place of the nodes that may go through poolers: those whose window is always short ask the most. */
const pooledPlace = 1;
/** Of all client groups. */
const audited = 0.5;

export interface NodeOptions {
  /** Whether nodes of the primary read from the standbys; otherwise there are nodes on these. Default false. */
  readonly readsFromStandbys?: boolean;
  readonly code: Code;
  readonly url: string;
  readonly specs: readonly ViewSpec[];
  readonly report: Report;
  readonly random: Random;
  /**
   * Whether one of the nodes, and one of those that read from standbys, reach their databases through poolers, which have
   * fewer connections than the node. Default false.
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

  /** Installs the code under test and returns the way to its nodes, which take turns. */
  async startNodes(options: NodeOptions): Promise<Send> {
    const { code, url, specs, report, random, readsFromStandbys, isPooled = false } = options;
    const views = toViews(specs);
    await code.migrate({ database: url, views, log: silent });
    await this.#replication?.caughtUp();
    const mutators = code.defineMutators({ count: code.defineMutator<User>()(runCount) });
    const authenticate = (request: Request) => ({ userID: decodeURIComponent(request.headers.get('Authorization')!) });
    const start = async (pool: pg.Pool, place: number, readDatabase: readonly pg.Pool[] = []): Promise<Sync> => {
      for (const one of [pool, ...readDatabase]) one.on('connect', (client) => countShared(client, report));
      const log = nodeLog(report);
      const window = windows[place % windows.length];
      const options = { database: pool, readDatabase, views, mutators, authenticate, audit: audited, window, log };
      const sync = await code.createSync(options);
      this.#closers.push(() => sync.close());
      this.#nodes.push(sync);
      return sync;
    };
    const standbys = this.#replication?.standbys.map((standby) => sameDatabase(url, standby.url)) ?? [];
    const places = Array.from({ length: nodesOfPrimary }, (_, place) => place);
    const direct = [url, ...standbys];
    const pooled = isPooled ? await Promise.all(direct.map((one) => this.#pool(one))) : direct;
    const open = (place: number) => {
      const [primary, ...others] = place === pooledPlace ? pooled : direct;
      return { primary: this.#openPool(primary!), standbys: () => others.map((one) => this.#openPool(one)) };
    };
    const onPrimary = await Promise.all(places.map((place) => start(open(place).primary, place)));
    const startReading = (place: number) => {
      const opened = open(place);
      return start(opened.primary, place, opened.standbys());
    };
    const reading = readsFromStandbys ? await Promise.all(places.map(startReading)) : [];
    const pools = readsFromStandbys ? [] : standbys.map((one) => this.#openPool(one));
    if (pools.length > 0) pools.push(this.#openPool(url, { Client: balanced([url, ...standbys], random) }));
    const lagging = await Promise.all(pools.map((pool, place) => start(pool, place)));
    const able = [...onPrimary, ...reading];
    let turn = 0;
    return async (path, userID, body) => {
      const asked = path === '/sync/pull' ? [...able, ...lagging] : able;
      const node = standbys.length > 0 ? random.pick(asked) : asked[turn++ % asked.length]!;
      const request = new Request(`http://oracle.test${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: encodeURIComponent(userID) },
        body: JSON.stringify(body),
      });
      const kind = onPrimary.includes(node) ? 'current' : reading.includes(node) ? 'own writes' : 'any';
      return { response: await node.fetch(request), shows: kind };
    };
  }

  /** Sets up the application's tables, with the oracle's eyes on them. */
  async createApplication(crowd = 0): Promise<string> {
    const url = await this.createDatabase();
    const client = await this.connect(url);
    await client.query(schemaSql);
    await client.query(crowdSql(crowd));
    await client.query(historySql);
    return url;
  }

  /** @param forgets whether answers can no longer show what was over long ago */
  async createJudge(url: string, specs: readonly ViewSpec[], report: Report, forgets: boolean): Promise<Judge> {
    const client = await this.connect(url);
    const replica = new Replica(await this.connect(await this.createDatabase()));
    await replica.setUp();
    const pool = this.#openPool(url, { max: 4 });
    return new Judge(await describeViews(client, specs), new History(pool), replica, { report, forgets });
  }

  /** How many times the nodes have compared what a client holds with its views. */
  async countAudits(): Promise<number> {
    const answers = await Promise.all(this.#nodes.map(({ fetch }) => fetch(new Request('http://oracle.test/readyz'))));
    const states = (await Promise.all(answers.map((answer) => answer.json()))) as { audits: AuditState }[];
    return states.reduce((sum, { audits }) => sum + audits.compared, 0);
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

/** Objects to the differences that a node's audit finds, and notes why requests fail. */
function nodeLog(report: Report): Logger {
  const error = (fields: object, message: string) => {
    if (message.startsWith("A client's data does not match"))
      report.object('audit', 'of a node', JSON.stringify(fields));
  };
  const warn = (fields: object, message: string) => {
    if (message === 'A request failed' && 'requestID' in fields) report.causes.set(String(fields.requestID), fields);
  };
  return { debug() {}, info() {}, warn, error };
}

/** The URL of the database of that name in another cluster. */
function sameDatabase(url: string, cluster: string): string {
  const address = new URL(cluster);
  address.pathname = new URL(url).pathname;
  return address.href;
}

/** Clients whose connections go to any of these places, as through a balancer. */
function balanced(urls: readonly string[], random: Random): typeof pg.Client {
  return class extends pg.Client {
    constructor() {
      super({ connectionString: random.pick(urls) });
    }
  };
}

/** Notes how many pulls each of a connection's statements serves: how many groups it asks about. */
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
  return text?.startsWith('select l::text as line from tidemark.look(') === true && !text.includes('where');
}
