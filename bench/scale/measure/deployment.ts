/** A deployment to measure: a primary, perhaps a standby, a server to pull from, and a server to push to. */
import pg from 'pg';
import { startReplication } from '../../../test/support/replication.js';
import { startProcess, startServer } from '../../processes.js';
import type { Order } from '../../servers/listeners.js';
import { meter, type Processes, postmasterOf, type Usage } from './meter.js';
import type { Statements } from './phases.js';
import { seedTeams } from './teams.js';

export interface Deployment {
  /** The URLs of the server to pull from, and of the server to push to. */
  readonly serverURL: string;
  readonly writerURL: string;
  /** Connections to the primary. */
  readonly pool: pg.Pool;
  /** Gives an order to the process of the subscribers. */
  order(order: Order): Promise<unknown>;
  meter(work: () => Promise<unknown>): Promise<Usage>;
  /** The number of statements of the servers that the databases have run so far. */
  statements(): Promise<Statements>;
  /** Waits until the standby has replayed what the primary has written. */
  caughtUp(): Promise<void>;
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

export interface DeploymentOptions {
  readonly teams: number;
  readonly hasStandby: boolean;
}

export async function withDeployment<T>(
  options: DeploymentOptions,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await work(await start(options, stops));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function start({ teams, hasStandby }: DeploymentOptions, stops: (() => Promise<unknown>)[]): Promise<Deployment> {
  const replication = await startReplication({ delays: hasStandby ? [0] : [], waitsFor: '', settings });
  stops.push(() => replication.stop());
  const { primaryURL } = replication;
  const standbyURL = replication.standbys[0]?.url;
  const poolOf = (connectionString: string) => {
    const pool = new pg.Pool({ connectionString, max: 4 }).on('error', () => {});
    stops.push(() => pool.end());
    return pool;
  };
  const pool = poolOf(primaryURL);
  const standbyPool = standbyURL === undefined ? undefined : poolOf(standbyURL);
  await pool.query('create extension pg_stat_statements');
  await seedTeams(pool, teams);
  const startOne = async (env: Record<string, string>) => {
    const server = await startServer(primaryURL, { application: 'teams', env });
    stops.push(() => server.stop());
    return server;
  };
  const writer = await startOne({});
  await replication.caughtUp();
  const server = await startOne(standbyURL === undefined ? {} : { STANDBY_URL: standbyURL });
  const subscribers = await startProcess('listeners.ts', primaryURL);
  stops.push(() => subscribers.stop());
  const processes: Processes = {
    server: server.pid,
    writer: writer.pid,
    primary: await postmasterOf(primaryURL),
    walSenders: (await pool.query<{ pid: number }>('select pid from pg_stat_replication')).rows.map(({ pid }) => pid),
    standby: standbyURL === undefined ? undefined : await postmasterOf(standbyURL),
  };
  return {
    serverURL: server.url,
    writerURL: writer.url,
    pool,
    order: (order) => subscribers.ask(order),
    meter: (work) => meter(processes, work),
    statements: async () => ({
      ...(await statementsOf(standbyPool ?? pool)),
      primaryPolls: standbyPool ? (await statementsOf(pool)).polls : 0,
    }),
    caughtUp: () => replication.caughtUp(),
  };
}

/** A name in the text identifies each kind. */
async function statementsOf(pool: pg.Pool): Promise<Omit<Statements, 'primaryPolls'>> {
  const { rows } = await pool.query<Omit<Statements, 'primaryPolls'>>(
    `select coalesce(sum(calls) filter (where query like '%tidemark.server_start(%'), 0)::float8 as polls,
       coalesce(sum(calls) filter (where query like '%tidemark_candidates as materialized%'), 0)::float8
         as "cohortQueries",
       coalesce(sum(calls) filter (where query like '%tidemark_observation as materialized%'), 0)::float8 as deltas
     from pg_stat_statements`,
  );
  return rows[0]!;
}
