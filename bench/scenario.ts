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
  /** The limit that the value is compared with, in the same unit, measured in the same turns. */
  readonly limit?: number;
  readonly limitName?: string;
  /** Value divided by limit, or as the goal defines it. */
  readonly ratio?: number;
  readonly goals?: readonly Goal[];
  readonly note?: string;
  /** The value's place in a plot: its curve, and the number of rows or users. */
  readonly point?: { readonly plot: 'rows' | 'users'; readonly curve: string; readonly x: number };
}

/**
 * The extent of a run. A smoke run takes a few rounds of everything, a usual run lasts a few minutes. A full run adds a
 * view of a million rows, ten minutes away instead of one, and more rounds of slow scenarios.
 */
export type Scale = 'quick' | 'usual' | 'full';

/** The resources of a scenario. */
export interface Bench {
  readonly pool: pg.Pool;
  readonly databaseURL: string;
  readonly server: ServerProcess;
  readonly limits: ServerProcess;
  /** The numbers of todos of the users whose pulls are measured. */
  readonly sizes: readonly number[];
  readonly scale: Scale;
  readonly isQuick: boolean;
  readonly progress: (message: string) => void;
}

export type Scenario = (bench: Bench) => Promise<Result[]>;

/** Opens connections for one scenario, and closes them when it ends. */
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

/** Creates a database in the same cluster, with a few connections to it, for one scenario. */
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
