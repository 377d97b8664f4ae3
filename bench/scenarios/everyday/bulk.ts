/** After a statement that changes many rows, a pull must not cost much more than fetching all rows again. */
import type pg from 'pg';
import { ClientGroup } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { ratioAtMost } from '../../goal.js';
import { startServer } from '../../processes.js';
import { type Bench, type Result, short, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';
import { addProject, createTables, type Project } from './data.js';

const views = ['plain', 'assignee', 'count', 'unread'];
const changedRows = [1_000, 10_000, 100_000];
const user = 'ann';

export function everydayBulk(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'everyday_bulk', async ({ pool, url }) => {
    await createTables(pool);
    const project = await addProject(pool, user, bench.sizes.at(-1)!, [user]);
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    try {
      return await withConnections(async (open) => measure(bench, pool, await open(server.url), project));
    } finally {
      await server.stop();
    }
  });
}

async function measure(
  { isQuick, progress }: Bench,
  pool: pg.Pool,
  connection: Connection,
  project: Project,
): Promise<Result[]> {
  /** Both pulls directly follow a change of equally many rows, so both have the same new rows to read. */
  const change = async (rows: number) => {
    await pool.query('vacuum analyze issue');
    await pool.query(
      `update issue set title = 'Changed ' || random() where id in (select id from issue where project_id = $1 limit $2)`,
      [project.name, rows],
    );
  };
  let fetched = 0;
  const contenders: Record<string, () => Promise<number>> = {};
  for (const view of views) {
    const group = new ClientGroup(connection, user, `bulk ${view}`, view);
    await group.pull();
    for (const rows of changedRows) {
      contenders[nameOf(view, rows)] = async () => {
        await group.pull();
        await change(rows);
        progress(`everyday: ${rows} rows of ${view} have changed`);
        return (await group.pull()).ms;
      };
      contenders[`${nameOf(view, rows)}, again`] = async () => {
        await change(rows);
        return (await new ClientGroup(connection, user, `again ${fetched++}`, view).pull()).ms;
      };
    }
  }
  const samples = await inTurns(isQuick ? 1 : 9, contenders);
  return views.flatMap((view) =>
    changedRows.map((rows): Result => {
      const [value, limit] = [median(samples[nameOf(view, rows)]!), median(samples[`${nameOf(view, rows)}, again`]!)];
      const name = `everyday, ${view}, ${short(project.size)}, ${short(Math.min(rows, project.size))} rows changed`;
      const limitName = 'fetching all rows again';
      // With fewer rows, a delta may take longer here, because it saves sending the other rows to the client.
      const goals = rows >= project.size && { goals: [ratioAtMost(1.5)] };
      return { name, value, unit: 'ms', limit, limitName, ratio: value / limit, ...goals };
    }),
  );
}

const nameOf = (view: string, rows: number) => `${view} ${rows}`;
