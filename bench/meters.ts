/** Measures what work costs the machine: processor time of the server and of Postgres, and the number of statements. */
import type pg from 'pg';
import { countStatements } from './database.js';
import type { Goal } from './goal.js';
import { cpuMsOf, type ServerProcess } from './processes.js';
import type { Result } from './scenario.js';

/** The cost of one out of many repetitions. */
export interface Cost {
  /** Includes Node's other threads. Undefined if the system does not report it. */
  readonly serverUs: number | undefined;
  /** The time of all backends that serve the server. */
  readonly databaseUs: number | undefined;
  /** Includes the server's periodic statements. */
  readonly statements: number;
}

/** Measures what the server under test and its database spend on each of `times` repetitions of `work`. */
export async function costOf(
  { pool, server }: { readonly pool: pg.Pool; readonly server: ServerProcess },
  times: number,
  work: () => Promise<unknown>,
): Promise<Cost> {
  await countStatements(pool, true);
  await pool.query('select pg_stat_statements_reset()');
  const before = { server: server.cpuMs(), backends: await backendsOf(pool) };
  await work();
  const after = { server: server.cpuMs(), backends: await backendsOf(pool) };
  await countStatements(pool, false);
  const { rows } = await pool.query<{ calls: number }>(
    `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements s
     join pg_database d on d.oid = s.dbid where d.datname = current_database()`,
  );
  const databaseMs = cpuBetween(before.backends, after.backends);
  return {
    serverUs:
      before.server === undefined || after.server === undefined
        ? undefined
        : (1000 * (after.server - before.server)) / times,
    databaseUs: after.backends.size === 0 ? undefined : (1000 * databaseMs) / times,
    statements: rows[0]!.calls / times,
  };
}

/** Returns the processor time of each backend that serves the server, in milliseconds. */
export async function backendsOf(pool: pg.Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'tidemark'`,
  );
  return new Map(
    rows.flatMap(({ pid }) => {
      const ms = cpuMsOf(pid);
      return ms === undefined ? [] : [[pid, ms] as const];
    }),
  );
}

/** Returns the milliseconds that backends spent between two readings, without backends that have ended. */
export function cpuBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}

/** Returns a line for each part of a cost that was measured. */
export function costResults(
  name: string,
  { serverUs, databaseUs, statements }: Cost,
  goals: { readonly serverUs?: Goal; readonly statements?: Goal } = {},
): Result[] {
  const line = (what: string, value: number | undefined, unit: string, goal?: Goal): Result[] =>
    value === undefined ? [] : [{ name: `${name}: ${what}`, value, unit, ...(goal && { goals: [goal] }) }];
  return [
    ...line("the server's CPU", serverUs, 'µs', goals.serverUs),
    ...line("Postgres's CPU", databaseUs, 'µs'),
    ...line('statements', statements, '', goals.statements),
  ];
}
