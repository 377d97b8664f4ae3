/** Measures the time from a commit outside the server to the rows in a poked client, for writes after a pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, ratioAtMost } from '../../goal.js';
import { startProcess, startServer } from '../../processes.js';
import { type Bench, type Result, withDatabase } from '../../scenario.js';
import type { Arrivals, Order } from '../../servers/listeners.js';
import { median, quantile } from '../../statistics.js';
import { addProject, apply, changes, createTables } from './data.js';

const issues = 30_000;
const rounds = 3;
const writesPerRound = 5;

export function everydayCommits(bench: Bench): Promise<Result[]> {
  const { isQuick, progress } = bench;
  return withDatabase(bench, 'everyday_commits', async ({ pool, url }) => {
    await createTables(pool);
    const project = await addProject(pool, 'somebody', isQuick ? 1000 : issues, ['somebody']);
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    const client = await startProcess('listeners.ts', url);
    const order = <Answer = object>(one: Order) => client.ask<Answer>(one);
    const times = new Map<string, number[]>(changes.map(({ view }) => [view, []]));
    try {
      // In rounds, so that a slow moment of the machine affects several views.
      for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
        for (const change of changes) {
          progress(`everyday: single writes, ${change.view}, round ${round + 1}`);
          await order({ do: 'open', url: server.url, users: ['somebody'], pulls: true, schemaVersion: change.view });
          const write = async () => {
            await order({ do: 'reset' });
            await apply(pool, change, project);
            const committed = performance.timeOrigin + performance.now();
            const { pulledAt } = await order<Arrivals>({ do: 'await', pokes: 1 });
            return pulledAt - committed;
          };
          for (let i = 0; i < 5; i++) await write();
          for (let i = 0; i < (isQuick ? 2 : writesPerRound); i++) {
            await sleep(500 + 4_500 * Math.random());
            times.get(change.view)!.push(await write());
          }
          await order({ do: 'close' });
        }
      }
      const plain = median(times.get('plain')!);
      return [...times].map(([view, samples]) => ({
        name: `everyday, ${view}: commit to rows, p50`,
        value: median(samples),
        unit: 'ms',
        note: `p95 ${quantile(samples, 0.95).toFixed(0)} ms`,
        ...(view === 'plain'
          ? { goals: [atMost(12)] }
          : { limit: plain, limitName: 'the plain view', ratio: median(samples) / plain, goals: [ratioAtMost(1.2)] }),
      }));
    } finally {
      await client.stop();
      await server.stop();
    }
  });
}
