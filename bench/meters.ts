/** What something costs the machine: the server's process, Postgres's processes, and how many statements it takes. */
import type pg from 'pg';
import { countStatements } from './database.js';
import type { Goal } from './goal.js';
import { cpuMsOf, type ServerProcess } from './processes.js';
import type { Result } from './scenario.js';

/** Of one out of many. */
export interface Cost {
  /** Node spends some of it beside its main thread. Undefined where the system does not tell. */
  readonly serverUs: number | undefined;
  /** Of all backends that serve the server. */
  readonly databaseUs: number | undefined;
  /** Those that the server sends by the clock included. */
  readonly statements: number;
}

/** What the server under test and its database spend on one of `times` times that `work` does something in total. */
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

/** The processor time of each backend that serves the server, in milliseconds. */
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

/** The milliseconds that backends took between two moments, without those that have ended meanwhile. */
export function cpuBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}

/** A line for each part of a cost that is known. */
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
