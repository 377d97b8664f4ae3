/** A Postgres, its servers, and real clients: the setup of most lines. */
import { pathToFileURL } from 'node:url';
import type { Result } from '../../../../bench/scenario.js';
import { until } from '../../../integration/conformance/client/client.js';
import { silent } from '../../../support/log.js';
import { Random } from '../../oracle/random.js';
import type { Torture } from '../line.js';
import { checkRun } from './audit.js';
import { Client, type ClientOptions } from './client.js';
import { type EngineOver, engineOver } from './engines.js';
import { judgeLeftBehind } from './left-behind.js';
import { Postgres } from './postgres.js';
import { addUsers, createTables } from './schema.js';
import { Server } from './server.js';
import { Tally } from './tally.js';

export interface RigOptions {
  /** Default 2. */
  readonly servers?: number;
  /** Further options of `createSync` that JSON can express, and `jwksURL`, the address of the token keys. */
  readonly serverOptions?: object;
  /** SQL to run before the migration. */
  readonly setup?: string;
  /** Returns the URL of a proxy between the servers and Postgres. Default: none. */
  readonly through?: (databaseURL: string) => Promise<string>;
}

const load = (url: string) => import(/* @vite-ignore */ url);

type Met = Pick<ClientOptions, 'route' | 'tally'>;

/** The number of clients of one user, who see each other's changes. */
const clientsPerUser = 4;

export class Rig {
  readonly postgres: Postgres;
  readonly servers: readonly Server[];
  /** The folder of the compiled package. */
  readonly code: string;
  readonly random: Random;
  readonly engine: EngineOver;
  readonly tally: Tally = new Tally();
  readonly clients: Client[] = [];

  constructor(postgres: Postgres, servers: readonly Server[], code: string, random: Random, engine: EngineOver) {
    this.postgres = postgres;
    this.servers = servers;
    this.code = code;
    this.random = random;
    this.engine = engine;
  }

  /** The URL of any server. If all servers are equal, clients need not stay with one. */
  readonly anyServer = (): string => this.random.pick(this.servers).url;

  async openClients(count: number, route: () => string = this.anyServer): Promise<void> {
    for (let i = 0; i < count; i++) await this.openClient(`user${Math.floor(i / clientsPerUser)}`, { route });
  }

  async openClient(user: string, { route = this.anyServer, tally = this.tally }: Partial<Met> = {}): Promise<Client> {
    await addUsers(this.postgres.pool, [user]);
    const client = new Client({
      engine: this.engine,
      user,
      route,
      tally,
      random: this.random.stream(this.clients.length),
    });
    this.clients.push(client);
    return client;
  }

  /** Makes all clients mutate, with this mean pause in milliseconds, while `trouble` runs. */
  async underLoad(pauseMs: number, trouble: () => Promise<void>): Promise<void> {
    let isOver = false;
    const working = this.clients.map((client) => client.keepMutating(pauseMs, () => isOver));
    try {
      await trouble();
    } finally {
      isOver = true;
      await Promise.all(working);
    }
  }

  /** Resolves when the clients are being served, so that each kill hits a working server. */
  async served(): Promise<void> {
    const enough = this.tally.accepted + this.clients.length;
    await until(() => this.tally.accepted >= enough, 60_000);
  }

  /** Checks everything after all work has ended, and closes the clients. */
  async check(): Promise<Result[]> {
    const { tally, clients, postgres, servers } = this;
    const results = await checkRun({ pool: postgres.pool, server: servers[0]!, tally, clients });
    await this.closeClients();
    return [...results, await judgeLeftBehind('held by the servers once the clients are gone', servers)];
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.close()));
  }
}

/** Creates the application's tables in a database, and captures their changes. */
export async function migrated({ pool, url }: Postgres, code: string): Promise<void> {
  await createTables(pool);
  const tidemark = await load(pathToFileURL(`${code}/index.js`).href);
  const { applicationOf } = await load(new URL('application.mjs', import.meta.url).href);
  await tidemark.migrate({ database: url, views: applicationOf(tidemark).views, log: silent });
}

/** Creates a rig, and always removes it after the work. */
export async function withRig<T>(
  { code, seed, engine }: Pick<Torture, 'code' | 'seed' | 'engine'>,
  work: (rig: Rig) => Promise<T>,
  { servers: count = 2, serverOptions = {}, setup = '', through = async (url) => url }: RigOptions = {},
): Promise<T> {
  const postgres = await Postgres.start();
  const servers: Server[] = [];
  let rig: Rig | undefined;
  try {
    await postgres.pool.query(setup);
    await migrated(postgres, code);
    const database = await through(postgres.url);
    while (servers.length < count) servers.push(await Server.start({ database, code, options: serverOptions }));
    rig = new Rig(postgres, servers, code, new Random(seed), await engineOver(engine));
    return await work(rig);
  } finally {
    await rig?.closeClients();
    await Promise.all(servers.map((server) => server.kill()));
    await postgres.remove();
  }
}
