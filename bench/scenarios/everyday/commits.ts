/** Measures the time from a commit outside the server to the rows in a poked client, for writes after a pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from '../../goal.js';
import { startProcess, startServer } from '../../processes.js';
import { type Bench, type Result, withDatabase } from '../../scenario.js';
import type { Arrivals, Order } from '../../servers/listeners.js';
import { median, quantile } from '../../statistics.js';
import { addProject, apply, changes, createTables } from './data.js';

const issues = 30_000;

export function everydayCommits(bench: Bench): Promise<Result[]> {
  const { isQuick, progress } = bench;
  return withDatabase(bench, 'everyday_commits', async ({ pool, url }) => {
    await createTables(pool);
    const project = await addProject(pool, 'somebody', isQuick ? 1000 : issues, ['somebody']);
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    const client = await startProcess('listeners.ts', url);
    const order = <Answer = object>(one: Order) => client.ask<Answer>(one);
    const results: Result[] = [];
    try {
      for (const change of changes) {
        progress(`everyday: single writes, ${change.view}`);
        await order({ do: 'open', url: server.url, users: ['somebody'], pulls: true, schemaVersion: change.view });
        const times: number[] = [];
        const write = async () => {
          await order({ do: 'reset' });
          await apply(pool, change, project);
          const committed = performance.timeOrigin + performance.now();
          const { pulledAt } = await order<Arrivals>({ do: 'await', pokes: 1 });
          return pulledAt - committed;
        };
        for (let i = 0; i < 5; i++) await write();
        for (let i = 0; i < (isQuick ? 2 : 15); i++) {
          await sleep(500 + 4_500 * Math.random());
          times.push(await write());
        }
        await order({ do: 'close' });
        results.push({
          name: `everyday, ${change.view}: commit to rows, p50`,
          value: median(times),
          unit: 'ms',
          note: `p95 ${quantile(times, 0.95).toFixed(0)} ms`,
          goals: [atMost(12)],
        });
      }
      return results;
    } finally {
      await client.stop();
      await server.stop();
    }
  });
}
