/** Workloads, deployments and assumptions. */
import type { Costs, Memory, Traffic } from '../measure/costs.js';

export interface Workload {
  /** Clients that are online. Each holds a stream of pokes open. */
  readonly clients: number;
  /** Mutations per second, each of one row and in its own push. */
  readonly writes: number;
  /** The number of online clients that see each write, which is the size of every team. */
  readonly audience: number;
  /** 'user' if each user's views have their own parameters, 'team' if all users of a team share them. */
  readonly seats: 'user' | 'team';
  /** True if all clients of a team connect to the same server, as behind a proxy that routes by tenant. */
  readonly isRouted: boolean;
  /** The number of times per hour that each client opens its stream and pulls, mostly without changes. */
  readonly opensPerHour: number;
  /** The number of first pulls per day of each client, and the rows of each. */
  readonly firstPullsPerDay: number;
  readonly firstRows: number;
}

export interface Deployment {
  /** Node processes. */
  readonly servers: number;
  /** Without standbys, the primary serves reads. */
  readonly standbys: number;
}

export interface Assumptions {
  /** The maximum share of a core for a server's process, and of all its cores for a database. */
  readonly utilization: number;
  readonly databaseCores: number;
  /** The maximum number of streams on a server. */
  readonly streamsPerServer: number;
  /** Clients poked at the same time pull within this many milliseconds, because their networks differ. */
  readonly spreadMs: number;
  /** From a server to its database and back. */
  readonly roundTripMs: number;
}

/** The measurements: with reads from the primary, and with reads from a standby. */
export interface Figures {
  readonly primary: Costs;
  readonly standby: Costs;
  readonly traffic: Traffic;
  readonly memory: Memory;
}

export const usual: Omit<Workload, 'clients' | 'writes'> = {
  audience: 40,
  seats: 'team',
  isRouted: false,
  opensPerHour: 2,
  firstPullsPerDay: 0.1,
  firstRows: 1_000,
};

export const assumptions: Assumptions = {
  utilization: 0.6,
  databaseCores: 16,
  streamsPerServer: 10_000,
  spreadMs: 50,
  roundTripMs: 0.5,
};

/** The part of the processor time that serves reads, and the costs of reading there. */
export function readingOf({ standbys }: Deployment, figures: Figures): { part: 'primary' | 'standby'; costs: Costs } {
  const part = standbys > 0 ? 'standby' : 'primary';
  return { part, costs: figures[part] };
}

/** The durations of statements in milliseconds: processor time on both sides, and the round trips. */
export interface Durations {
  /** A poll that finds no change. */
  readonly look: number;
  /** A poll that finds changes, without its queries for affected cohorts. */
  readonly news: number;
  readonly seat: number;
  readonly pair: number;
  readonly delta: number;
}

/** A poll that finds changes also begins a transaction, reads the log, runs its query and ends the transaction. */
const newsRoundTrips = 5;

export function durationsOf(deployment: Deployment, figures: Figures, { roundTripMs }: Assumptions): Durations {
  const { part, costs } = readingOf(deployment, figures);
  const ms = (name: 'look' | 'news' | 'seat' | 'pair' | 'statement', roundTrips: number) =>
    (costs[name].server + costs[name][part]) / 1000 + roundTrips * roundTripMs;
  return {
    look: ms('look', 1),
    news: ms('news', newsRoundTrips),
    seat: ms('seat', 0),
    pair: ms('pair', 0),
    delta: ms('statement', 1),
  };
}
