import type pg from 'pg';
import { Connection } from './client/connection.js';
import { connectTo } from './database.js';
import type { Goal } from './goal.js';
import type { ServerProcess } from './processes.js';

/** One line of the table. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is held against, in the same unit, measured in the same turns. */
  readonly limit?: number;
  readonly limitName?: string;
  /** Value by limit, or as the goal has it. */
  readonly ratio?: number;
  readonly goals?: readonly Goal[];
  readonly note?: string;
  /** Where the value stands in a plot: its curve, and how many rows or users it is about. */
  readonly point?: { readonly plot: 'rows' | 'users'; readonly curve: string; readonly x: number };
}

/**
 * How much is measured: in a smoke run, a few rounds of everything; usually, as much as a few minutes allow; in a full
 * run, also a view of a million rows, ten minutes away instead of one, and more rounds of what is slow.
 */
export type Scale = 'quick' | 'usual' | 'full';

/** What a scenario works with. */
export interface Bench {
  readonly pool: pg.Pool;
  readonly databaseURL: string;
  readonly server: ServerProcess;
  readonly limits: ServerProcess;
  /** How many todos the users see whose pulls are measured. */
  readonly sizes: readonly number[];
  readonly scale: Scale;
  readonly isQuick: boolean;
  readonly progress: (message: string) => void;
}

export type Scenario = (bench: Bench) => Promise<Result[]>;

/** Connections opened for one scenario, closed at its end. */
export async function withConnections<T>(work: (open: (url: string) => Promise<Connection>) => Promise<T>): Promise<T> {
  const connections: Connection[] = [];
  try {
    return await work(async (url) => {
      const connection = await Connection.open(url);
      connections.push(connection);
      return connection;
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** A database of its own in the same cluster, with a few connections to it, for one scenario. */
export async function withDatabase<T>(
  { pool: main, databaseURL }: Pick<Bench, 'pool' | 'databaseURL'>,
  name: string,
  work: (database: { readonly pool: pg.Pool; readonly url: string }) => Promise<T>,
): Promise<T> {
  const address = new URL(databaseURL);
  address.pathname = `/${name}`;
  await main.query(`create database ${name}`);
  const pool = await connectTo(address.href, 5);
  try {
    return await work({ pool, url: address.href });
  } finally {
    await pool.end();
    await main.query(`drop database ${name} with (force)`);
  }
}

/** 1000 as "1k", 1000000 as "1M". */
export function short(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000}M` : size >= 1000 ? `${size / 1000}k` : String(size);
}
