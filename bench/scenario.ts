import type pg from 'pg';
import { Connection } from './connection.js';
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
  /** What performance.md asks for, as a bound on the ratio or on the value. */
  readonly goal?: string;
  readonly note?: string;
}

/** What a scenario works with. */
export interface Bench {
  readonly pool: pg.Pool;
  readonly databaseURL: string;
  readonly server: ServerProcess;
  readonly limits: ServerProcess;
  /** How many todos the users see whose pulls are measured. */
  readonly sizes: readonly number[];
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

/** 1000 as "1k", 1000000 as "1M". */
export function short(size: number): string {
  return size >= 1_000_000 ? `${size / 1_000_000}M` : size >= 1000 ? `${size / 1000}k` : String(size);
}
