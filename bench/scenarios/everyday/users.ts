/** Measures many users who see the same issues and pull together after one change, and which users are poked. */
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { ratioAtMost } from '../../goal.js';
import { startProcess, startServer } from '../../processes.js';
import { type Bench, type Result, withConnections, withDatabase } from '../../scenario.js';
import type { Order, Totals } from '../../servers/listeners.js';
import { inTurns, median } from '../../statistics.js';
import { addProject, apply, type Change, changes, createTables, type Project } from './data.js';

const measured = ['plain', 'assignee', 'count', 'group-by', 'unread'];
const issues = 100;

export function everydayUsers(bench: Bench): Promise<Result[]> {
  const users = bench.isQuick ? 50 : 1000;
  return withDatabase(bench, 'everyday_users', async ({ pool, url }) => {
    await createTables(pool);
    const crowds: Crowd[] = [];
    for (const change of changes.filter(({ view }) => measured.includes(view))) {
      const members = Array.from({ length: users }, (_, i) => `${change.view} ${i}`);
      crowds.push({ change, members, project: await addProject(pool, change.view, issues, members) });
    }
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    try {
      return [
        ...(await pullsOf(bench, pool, server.url, crowds)),
        ...(await pokesOf(bench, pool, url, server.url, crowds)),
      ];
    } finally {
      await server.stop();
    }
  });
}

/** Each view has its own users and project, so that changes for one view do not affect the others. */
interface Crowd {
  readonly change: Change;
  readonly members: readonly string[];
  readonly project: Project;
}

function pullsOf(
  { isQuick, progress }: Bench,
  pool: pg.Pool,
  url: string,
  crowds: readonly Crowd[],
): Promise<Result[]> {
  return withConnections(async (open) => {
    const connections = await Promise.all(crowds[0]!.members.map(() => open(url)));
    const contenders: Record<string, () => Promise<number>> = {};
    for (const { change, members, project } of crowds) {
      progress(`everyday: the users of ${change.view} pull`);
      const groups = members.map((user, i) => new ClientGroup(connections[i]!, user, user, change.view));
      for (let i = 0; i < groups.length; i += 8) await Promise.all(groups.slice(i, i + 8).map((group) => group.pull()));
      contenders[change.view] = async () => {
        await apply(pool, change, project);
        const started = performance.now();
        await Promise.all(groups.map((group) => pullOps(group, change.ops)));
        return performance.now() - started;
      };
    }
    await inTurns(1, contenders);
    const samples = await inTurns(isQuick ? 2 : 7, contenders);
    const limit = median(samples.plain!);
    return crowds.map(({ change: { view }, members }): Result => {
      const result = {
        name: `${members.length} users of ${view} after one change`,
        value: median(samples[view]!),
        unit: 'ms',
      };
      if (view === 'plain') return result;
      return { ...result, limit, limitName: 'the plain view', ratio: result.value / limit, goals: [ratioAtMost(1.5)] };
    });
  });
}

/** The share of affected users who are poked, and of the other users. */
async function pokesOf(
  { progress }: Bench,
  pool: pg.Pool,
  databaseURL: string,
  url: string,
  crowds: readonly Crowd[],
): Promise<Result[]> {
  const results: Result[] = [];
  const [concerned, others] = [
    await startProcess('listeners.ts', databaseURL),
    await startProcess('listeners.ts', databaseURL),
  ];
  try {
    for (const { change, members, project } of crowds) {
      progress(`everyday: the users of ${change.view} listen`);
      const foreign = crowds.find((one) => one.change !== change)!;
      const open: Order = { do: 'open', url, users: members, pulls: false, schemaVersion: change.view };
      await concerned.ask<object>(open);
      await others.ask<object>({ ...open, users: foreign.members, from: members.length });
      for (const transactions of [1, 20]) {
        for (const one of [concerned, others]) await one.ask<object>({ do: 'reset' } satisfies Order);
        await Promise.all(Array.from({ length: transactions }, () => apply(pool, change, project)));
        await concerned.ask<object>({ do: 'await', pokes: members.length } satisfies Order);
        const [reached, missed] = [
          await concerned.ask<Totals>({ do: 'count' }),
          await others.ask<Totals>({ do: 'count' }),
        ];
        const name = `${transactions === 1 ? 'one transaction' : `${transactions} transactions`}, ${change.view}`;
        results.push(
          {
            name: `pokes after ${name}`,
            value: reached.pokes,
            unit: '',
            limit: members.length,
            limitName: 'users concerned',
          },
          { name: `pokes after ${name}: others`, value: missed.pokes, unit: '' },
        );
      }
      for (const one of [concerned, others]) await one.ask<object>({ do: 'close' } satisfies Order);
    }
    return results;
  } finally {
    await concerned.stop();
    await others.stop();
  }
}
