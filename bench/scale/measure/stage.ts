/** A deployment to measure: a primary, optional standbys, servers to pull from, and one server to push to. */
import pg from 'pg';
import { startReplication } from '../../../test/support/replication.js';
import { type ServerProcess, startProcess, startServer } from '../../processes.js';
import type { Order } from '../../servers/listeners.js';
import type { Statements } from './costs.js';
import { type Metered, postmasterOf, type Spent, spentOn } from './meter.js';
import { seedTeams } from './teams.js';

export interface StageOptions {
  readonly teams: number;
  readonly standbys: number;
  /** The number of servers that clients pull from. They share the standbys. */
  readonly servers: number;
  /** The number of processes that run clients. */
  readonly loaders: number;
  /** 'user' if each user's view has its own parameter, 'team' if all users of a team share one. */
  readonly seats: 'user' | 'team';
}

export interface Stage {
  readonly servers: readonly ServerProcess[];
  readonly writer: ServerProcess;
  readonly loaders: readonly Loader[];
  /** Connections to the primary. */
  readonly pool: pg.Pool;
  readonly settings: Readonly<Record<string, string>>;
  spent(work: () => Promise<unknown>): Promise<Spent>;
  /** The number of statements of the servers that the databases have run so far. */
  statements(): Promise<Statements>;
  /** Waits until the standbys have replayed what the primary has written. */
  caughtUp(): Promise<void>;
}

export interface Loader {
  /** Each loader has its own address, because one address has ports for only about 28,000 connections to a server. */
  readonly localAddress: string;
  order<Answer>(order: Order): Promise<Answer>;
}

/**
 * Durable, as by default. With this much room for WAL, checkpoints do not hit one measurement more than another.
 * Statements are counted.
 */
export const settings = {
  fsync: 'on',
  max_wal_size: '4GB',
  max_connections: '200',
  shared_preload_libraries: 'pg_stat_statements',
};

export async function withStage<T>(options: StageOptions, work: (stage: Stage) => Promise<T>): Promise<T> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await work(await build(options, stops));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function build(options: StageOptions, stops: (() => Promise<unknown>)[]): Promise<Stage> {
  const { teams, standbys: count, seats } = options;
  const replication = await startReplication({ delays: Array<number>(count).fill(0), waitsFor: '', settings });
  stops.push(() => replication.stop());
  const { primaryURL, standbys } = replication;
  const pools = [primaryURL, ...standbys.map(({ url }) => url)].map((connectionString) =>
    new pg.Pool({ connectionString, max: 4 }).on('error', () => {}),
  );
  stops.push(() => Promise.all(pools.map((pool) => pool.end())));
  const [pool, ...readPools] = pools as [pg.Pool, ...pg.Pool[]];
  await pool.query('create extension pg_stat_statements');
  await seedTeams(pool, teams);
  const start = async (env: Record<string, string>) => {
    const server = await startServer(primaryURL, { application: 'teams', env: { COHORTS: seats, ...env } });
    stops.push(() => server.stop());
    return server;
  };
  const writer = await start({});
  await replication.caughtUp();
  const servers: ServerProcess[] = [];
  for (let i = 0; i < options.servers; i++) {
    const standby = standbys[i % count];
    servers.push(await start(standby ? { STANDBY_URL: standby.url } : {}));
  }
  const loaders: Loader[] = [];
  for (let i = 0; i < options.loaders; i++) {
    const { ask, stop } = await startProcess('listeners.ts', primaryURL);
    stops.push(() => stop());
    loaders.push({ localAddress: `127.0.0.${2 + i}`, order: ask });
  }
  const metered: Metered = {
    servers,
    writer,
    primary: await postmasterOf(primaryURL),
    standbys: await Promise.all(standbys.map(({ url }) => postmasterOf(url))),
    senders: (await pool.query<{ pid: number }>('select pid from pg_stat_replication')).rows.map(({ pid }) => pid),
  };
  return {
    servers,
    writer,
    loaders,
    pool,
    settings,
    spent: (more) => spentOn(metered, more),
    statements: async () => {
      const all = await Promise.all((count === 0 ? [pool] : readPools).map(statementsOf));
      const sum = (kind: keyof (typeof all)[number]) => all.reduce((so, counts) => so + counts[kind], 0);
      const primaryLooks = count === 0 ? 0 : (await statementsOf(pool)).looks;
      return { looks: sum('looks'), primaryLooks, questions: sum('questions'), deltas: sum('deltas') };
    },
    caughtUp: () => replication.caughtUp(),
  };
}

/** A name in the text identifies each kind. */
async function statementsOf(pool: pg.Pool): Promise<Omit<Statements, 'primaryLooks'>> {
  const { rows } = await pool.query<Omit<Statements, 'primaryLooks'>>(
    `select coalesce(sum(calls) filter (where query like '%tidemark.server_start(%'), 0)::float8 as looks,
       coalesce(sum(calls) filter (where query like '%tidemark_candidates as materialized%'), 0)::float8 as questions,
       coalesce(sum(calls) filter (where query like '%tidemark_observation as materialized%'), 0)::float8 as deltas
     from pg_stat_statements`,
  );
  return rows[0]!;
}
