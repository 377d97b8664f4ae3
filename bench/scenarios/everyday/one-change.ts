/** The cost of one change must not grow with the view. */
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { ratioAtMost } from '../../goal.js';
import { startServer } from '../../processes.js';
import { type Bench, type Result, short, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';
import { addProject, apply, type Change, changes, changesOfHalves, createTables, type Project } from './data.js';

const userOf = ({ size }: Project) => `user${size}`;

export function everyday(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'everyday', async ({ pool, url }) => {
    await createTables(pool);
    const projects: Project[] = [];
    for (const size of bench.sizes) projects.push(await addProject(pool, `user${size}`, size, [`user${size}`]));
    const others = await addProject(pool, 'others', 1000, ['somebody']);
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    try {
      return await withConnections(async (open) => measure(bench, pool, await open(server.url), projects, others));
    } finally {
      await server.stop();
    }
  });
}

type Contenders = Record<string, () => Promise<number>>;

async function measure(
  { isQuick }: Bench,
  pool: pg.Pool,
  connection: Connection,
  projects: readonly Project[],
  others: Project,
): Promise<Result[]> {
  const contenders: Contenders = {};
  for (const project of projects) {
    for (const change of [...changes, ...changesOfHalves]) {
      const group = new ClientGroup(connection, userOf(project), `${change.view} ${project.size}`, change.view);
      await group.pull();
      const after = (of: Project, ops: number) => async () => {
        // Pulls the changes of the other contenders first.
        await group.pull();
        await apply(pool, change, of);
        return (await pullOps(group, ops)).ms;
      };
      contenders[lineOf(change, project)] = after(project, change.ops);
      contenders[`${lineOf(change, project)}, for others`] = after(others, 0);
    }
  }
  const largest = projects.at(-1)!;
  const again: Contenders = {};
  for (const { view } of [...changes, ...changesOfHalves]) {
    again[`again ${view}`] = async () =>
      (await new ClientGroup(connection, userOf(largest), `again ${view}`, view).pull()).ms;
  }
  const rounds = isQuick ? 3 : 20;
  const samples = { ...(await inTurns(rounds, contenders)), ...(await inTurns(Math.min(rounds, 5), again)) };
  const of = (name: string) => median(samples[name]!);
  return projects.flatMap((project) => [
    ...changes.map((change) => lineFor(change, project, of)),
    ...changesOfHalves.map(({ view }) => halfFor(view, project, largest, of)),
    ...[...changes, ...changesOfHalves].flatMap((change) => foreignFor(change, project, of)),
  ]);
}

const lineOf = ({ view }: Pick<Change, 'view'>, { size }: Project) => `everyday, ${view}, ${short(size)}`;

function lineFor({ view }: Change, project: Project, of: (name: string) => number): Result {
  const name = lineOf({ view }, project);
  const result = { name: `${name}, p50`, value: of(name), unit: 'ms' };
  if (view === 'plain') return result;
  const limit = of(lineOf({ view: 'plain' }, project));
  return { ...result, limit, limitName: 'the plain view', ratio: result.value / limit, goals: [ratioAtMost(2)] };
}

/** Compares with an application without deltas, which fetches all rows again. */
function halfFor(view: string, project: Project, largest: Project, of: (name: string) => number): Result {
  const name = lineOf({ view }, project);
  const result = { name: `${name}, p50`, value: of(name), unit: 'ms' };
  if (project !== largest) return result;
  const limit = of(`again ${view}`);
  return { ...result, limit, limitName: 'fetching all rows again', ratio: result.value / limit };
}

/** A change that does not affect the view. */
function foreignFor(change: Change, project: Project, of: (name: string) => number): Result[] {
  const name = `${lineOf(change, project)}, for others`;
  const limit = of(`${lineOf({ view: 'plain' }, project)}, for others`);
  if (change.view === 'plain') return [{ name: `${name}, p50`, value: limit, unit: 'ms' }];
  const value = of(name);
  return [
    {
      name: `${name}, p50`,
      value,
      unit: 'ms',
      limit,
      limitName: 'the plain view',
      ratio: value / limit,
      goals: [ratioAtMost(2)],
    },
  ];
}
