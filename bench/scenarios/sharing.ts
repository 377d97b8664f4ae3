/** Many users who see the same list, all at once, after one change in it: colleagues, each with a view of their own. */
import { ClientGroup, pullOps } from '../client-group.js';
import { type Bench, type Result, withConnections } from '../scenario.js';
import { inTurns, median } from '../statistics.js';

const crowds = [
  { users: 200, goal: '≤ 60 ms' },
  { users: 1000, goal: '≤ 250 ms' },
];
const todos = 100;

/** A list of the first colleague's, which the others share. */
async function share({ pool }: Bench, users: number): Promise<void> {
  await pool.query(`insert into list values ('shared', 'colleague0', 'Shared')`);
  await pool.query(`insert into share select 'shared', 'colleague' || n from generate_series(1, $1::integer) n`, [
    users - 1,
  ]);
  await pool.query(
    `insert into todo select 'shared.' || n, 'shared', 'Todo ' || n, false, n, '' from generate_series(1, $1::integer) n`,
    [todos],
  );
  await pool.query('analyze list, share, todo');
}

export async function sharing(bench: Bench): Promise<Result[]> {
  const { pool, server, isQuick } = bench;
  const most = Math.max(...crowds.map(({ users }) => users));
  await share(bench, most);
  const samples = await withConnections(async (open) => {
    const colleagues = await Promise.all(
      Array.from({ length: most }, async (_, i) => {
        const user = `colleague${i}`;
        return new ClientGroup(await open(server.url), user, user);
      }),
    );
    // One by one: so many first pulls at once are another question.
    for (const group of colleagues) await pullOps(group, todos + 1);
    const round = (users: number) => async () => {
      await pool.query('update todo set title = $2 where id = $1', ['shared.1', `Changed ${Math.random()}`]);
      const started = performance.now();
      await Promise.all(colleagues.slice(0, users).map((group) => pullOps(group, 1)));
      const ms = performance.now() - started;
      // Those who had no part in it see the change too, or they would have two to pull the next time.
      await Promise.all(colleagues.slice(users).map((group) => group.pull()));
      return ms;
    };
    const contenders = Object.fromEntries(crowds.map(({ users }) => [users, round(users)]));
    await inTurns(1, contenders);
    return inTurns(isQuick ? 2 : 7, contenders);
  });
  return crowds.map(
    ({ users, goal }): Result => ({
      name: `${users} users of one list after one change`,
      value: median(samples[users]!),
      unit: 'ms',
      note: `best ${Math.min(...samples[users]!).toFixed(0)} ms`,
      goal,
    }),
  );
}
