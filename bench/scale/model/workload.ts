/** What is asked of a deployment, what it is made of, and what is taken for granted. */
import type { Costs, Memory, Traffic } from '../measure/costs.js';

export interface Workload {
  /** Clients that are online. Each holds a stream of pokes open. */
  readonly clients: number;
  /** Mutations a second, each in a push of its own, each of one row. */
  readonly writes: number;
  /** How many clients online see each write: all clients are in teams of so many. */
  readonly audience: number;
  /** Whether each user's views have parameters of their own, or all of a team share them. */
  readonly seats: 'user' | 'team';
  /** Whether all of a team come to the same server, as behind a proxy that goes by the tenant; else they go anywhere. */
  readonly isRouted: boolean;
  /** How often each client opens its stream in an hour, and pulls, mostly in vain. */
  readonly opensPerHour: number;
  /** How often each client pulls for the first time in a day, and so many rows. */
  readonly firstPullsPerDay: number;
  readonly firstRows: number;
}

export interface Deployment {
  /** Processes of Node. */
  readonly servers: number;
  /** With none, the primary is read. */
  readonly standbys: number;
}

export interface Assumptions {
  /** How much of a core a server's process should take at most, and how much of all its cores a database. */
  readonly utilization: number;
  readonly databaseCores: number;
  /** Streams that a server keeps open at most. */
  readonly streamsPerServer: number;
  /** Those who are poked at once pull within so many milliseconds, since their networks differ. */
  readonly spreadMs: number;
  /** From a server to its database and back. */
  readonly roundTripMs: number;
}

/** What was measured: with the primary being read, and with a standby. */
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

/** What is read from: its part of the processor time, and what it costs. */
export function readingOf({ standbys }: Deployment, figures: Figures): { part: 'primary' | 'standby'; costs: Costs } {
  const part = standbys > 0 ? 'standby' : 'primary';
  return { part, costs: figures[part] };
}

/** How long statements take, in milliseconds: their processor time on both sides, and the way. */
export interface Durations {
  /** A look at a log with nothing new. */
  readonly look: number;
  /** A look that finds something, the part that does not depend on what it asks. */
  readonly news: number;
  readonly seat: number;
  readonly pair: number;
  readonly delta: number;
}

/** A look that finds something also begins a transaction, reads the log, asks and ends. */
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
