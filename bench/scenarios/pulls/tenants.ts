/** Measures many tenants in one database: the others' activity must not affect one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { type ServerProcess, type ServerState, startServer } from '../../processes.js';
import { type Bench, type Result, short, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, quantile } from '../../statistics.js';

const tenants = 1000;
const notes = 100;
const writers = 2;
/** The mean pause of each writer. */
const pauseMs = 10;

export function manyTenants(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'tenants', async ({ pool, url }) => {
    await pool.query('create table note (id integer primary key, tenant_id text not null, body text not null)');
    await pool.query(
      `insert into note select n, 'tenant' || n % $1::integer, rpad('', 100, md5(n::text)) from generate_series(0, $2::integer - 1) n`,
      [tenants, tenants * notes],
    );
    await pool.query('create index on note (tenant_id)');
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'tenants' });
    return await measure(bench, pool, server).finally(server.stop);
  });
}

/** Changes one note of a tenant. */
async function write(pool: pg.Pool, tenant: number): Promise<void> {
  await pool.query({
    name: 'write',
    text: 'update note set body = $2 where id = $1',
    values: [tenant + tenants * Math.floor(notes * Math.random()), `Changed ${Math.random()}`],
  });
}

function measure({ isQuick, progress }: Bench, pool: pg.Pool, server: ServerProcess): Promise<Result[]> {
  return withConnections(async (open) => {
    const before = await server.ask<ServerState>({});
    server.resetPeak();
    const connection = await open(server.url);
    const groups = Array.from({ length: tenants }, (_, n) => new ClientGroup(connection, `tenant${n}`, `group${n}`));
    for (const group of groups) await pullOps(group, notes);
    progress('tenants: all have pulled once');
    const one = groups[0]!;
    const contenders = {
      unchanged: async () => (await one.repeat()).ms,
      changed: async () => {
        await write(pool, 0);
        return (await pullOps(one, 1)).ms;
      },
    };
    const rounds = isQuick ? 20 : 200;
    const quiet = await inTurns(rounds, contenders);
    let isOver = false;
    let written = 0;
    const others = Array.from({ length: writers }, async () => {
      for (; !isOver; written++) {
        await write(pool, 1 + Math.floor((tenants - 1) * Math.random()));
        await sleep(2 * pauseMs * Math.random());
      }
    });
    const started = performance.now();
    const busy = await inTurns(rounds, contenders).finally(() => {
      isOver = true;
    });
    await Promise.all(others);
    const rate = (1000 * written) / (performance.now() - started);
    const after = await server.ask<ServerState>({});
    const result = (name: string, what: keyof typeof busy, q: number): Result => {
      const [value, limit] = [quantile(busy[what], q), quantile(quiet[what], q)];
      return {
        name: `one of ${short(tenants)} tenants, ${name}, p${100 * q}`,
        value,
        unit: 'ms',
        limit,
        limitName: 'the same without writes',
        ratio: value / limit,
        note: `others write ${rate.toFixed(0)} times a second`,
      };
    };
    const peak = server.peakMemory();
    return [
      result('no change', 'unchanged', 0.5),
      result('no change', 'unchanged', 0.95),
      result('one row changed', 'changed', 0.5),
      result('one row changed', 'changed', 0.95),
      {
        name: `${short(tenants)} tenants, the server's memory`,
        value: after.rssMB,
        unit: 'MB',
        limit: before.rssMB,
        limitName: 'before the first tenant',
        ratio: after.rssMB / before.rssMB,
        note: `heap ${after.heapMB.toFixed(0)} MB${peak === undefined ? '' : `, peak ${peak.toFixed(0)} MB`}`,
      },
    ];
  });
}
