/**
 * Measures colleagues with different views who see the same list and pull at the same time after a change to it, beside
 * equally many clients of one user.
 */
import { ClientGroup, pullOps } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { addUsers } from '../../database.js';
import { atMost, type Goal, ratioAtMost } from '../../goal.js';
import { costOf, costResults } from '../../meters.js';
import { type Bench, type Result, withConnections } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';

const crowds: readonly { readonly clients: number; readonly goals?: readonly Goal[] }[] = [
  { clients: 1 },
  { clients: 16 },
  { clients: 200, goals: [atMost(60), ratioAtMost(1.5)] },
  { clients: 1000, goals: [atMost(250), ratioAtMost(1.5)] },
];
const todos = 100;

/** Each crowd has its own list, so that changes for one do not affect the others. */
async function addList({ pool }: Bench, list: string, owner: string): Promise<void> {
  await pool.query('insert into list values ($1, $2, $1)', [list, owner]);
  await pool.query(
    `insert into todo select $1 || '.' || n, $1, 'Todo ' || n, false, n, '' from generate_series(1, $2::integer) n`,
    [list, todos],
  );
}

/** Changes a todo of the list, and returns the time until all clients have it. */
function afterChange({ pool }: Bench, list: string, groups: readonly ClientGroup[]) {
  return async () => {
    await pool.query('update todo set title = $2 where id = $1', [`${list}.1`, `Changed ${Math.random()}`]);
    const started = performance.now();
    await Promise.all(groups.map((group) => pullOps(group, 1)));
    return performance.now() - started;
  };
}

export async function sharing(bench: Bench): Promise<Result[]> {
  const { pool, server, isQuick, progress } = bench;
  const costs: Result[] = [];
  const samples = await withConnections(async (open) => {
    const openAll = (count: number) => Promise.all(Array.from({ length: count }, () => open(server.url)));
    const contenders: Record<string, () => Promise<number>> = {};
    for (const { clients } of crowds) {
      const connections = await openAll(clients);
      const [shared, own] = [`shared${clients}`, `own${clients}`];
      await addList(bench, shared, 'somebody');
      await addList(bench, own, own);
      const users = await addUsers(pool, shared, clients);
      const colleagues = users.map((user, i) => new ClientGroup(connections[i]!, user, user));
      await firstPulls(colleagues);
      contenders[`users ${clients}`] = afterChange(bench, shared, colleagues);
      contenders[`clients ${clients}`] = afterChange(bench, own, await clientsOf(own, connections));
    }
    await pool.query('analyze list, share, todo');
    progress('sharing: all have pulled once');
    await inTurns(1, contenders);
    const rounds = isQuick ? 2 : 5;
    for (const kind of ['users', 'clients']) {
      const cost = await costOf(bench, rounds * 200, async () => {
        for (let i = 0; i < rounds; i++) await contenders[`${kind} 200`]!();
      });
      costs.push(...costResults(`200 ${kind}, each pull`, cost));
    }
    return inTurns(rounds, contenders);
  });
  const times = crowds.flatMap(({ clients, goals }): Result[] => {
    const [users, oneUser] = [samples[`users ${clients}`]!, samples[`clients ${clients}`]!];
    const [value, limit] = [median(users), median(oneUser)];
    const result = (name: string, curve: string, of: readonly number[]): Result => ({
      name,
      value: median(of),
      unit: 'ms',
      note: `best ${Math.min(...of).toFixed(0)} ms`,
      point: { plot: 'users', curve, x: clients },
    });
    const limitName = 'as many clients of one user';
    const [usersName, clientsName] = clients === 1 ? ['user', 'client'] : ['users', 'clients'];
    return [
      {
        ...result(`${clients} ${usersName} of one list after one change`, 'users of one list', users),
        limit,
        limitName,
        ratio: value / limit,
        ...(goals && { goals }),
      },
      {
        ...result(`${clients} ${clientsName} of one user after one change`, 'clients of one user', oneUser),
        ...(clients === 200 && { goals: [atMost(25)] }),
      },
    ];
  });
  return [...times, ...costs];
}

/** A few at a time. Many simultaneous first pulls are another scenario. */
async function firstPulls(groups: readonly ClientGroup[]): Promise<void> {
  const atOnce = 8;
  for (let i = 0; i < groups.length; i += atOnce) {
    await Promise.all(groups.slice(i, i + atOnce).map((group) => pullOps(group, todos + 1)));
  }
}

async function clientsOf(user: string, connections: readonly Connection[]): Promise<ClientGroup[]> {
  const groups = connections.map((connection, i) => new ClientGroup(connection, user, `${user} ${i}`));
  await pullOps(groups[0]!, todos + 1);
  for (const group of groups) group.cookie = groups[0]!.cookie;
  return groups;
}
