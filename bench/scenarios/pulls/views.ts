/** Compares many views with few: what one more view costs while nothing changes in it, and when something does. */
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { atMost, ratioAtMost } from '../../goal.js';
import { costOf, costResults } from '../../meters.js';
import { type ServerProcess, startServer } from '../../processes.js';
import { type Bench, type Result, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';

const [few, many] = [2, 30];
const owners = 20;
/** The rows of each owner in each table. */
const rows = 100;
/** Each of the two clients has its own rows. */
const [ownerOfFew, ownerOfMany] = [1, 2];

export function views(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'views', async ({ pool, url }) => {
    await seed(pool);
    const servers: ServerProcess[] = [];
    try {
      for (const count of [few, many]) {
        servers.push(await startServer(url, { application: 'tables', env: { VIEWS: String(count) } }));
      }
      const [serverOfFew, serverOfMany] = servers as [ServerProcess, ServerProcess];
      return await measure(bench, pool, serverOfFew, serverOfMany);
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}

async function seed(pool: pg.Pool): Promise<void> {
  for (let n = 1; n <= many; n++) {
    await pool.query(`create table item${n} (id integer primary key, owner_id text not null, title text not null)`);
    await pool.query(
      `insert into item${n} select i, 'owner' || i % $1::integer, 'Item ' || i from generate_series(1, $2::integer) i`,
      [owners, owners * rows],
    );
    await pool.query(`create index on item${n} (owner_id)`);
  }
  await pool.query('vacuum analyze');
}

/** Changes one of the owner's rows in each of this many tables, in one transaction. */
async function change(pool: pg.Pool, owner: number, tables: number): Promise<void> {
  const id = owner + owners * Math.floor(rows * Math.random());
  const updates = Array.from(
    { length: tables },
    (_, i) => `update item${i + 1} set title = 'Changed ${Math.random()}' where id = ${id};`,
  );
  await pool.query(updates.join('\n'));
}

function measure(bench: Bench, pool: pg.Pool, serverOfFew: ServerProcess, serverOfMany: ServerProcess) {
  return withConnections(async (open) => {
    const ofFew = new ClientGroup(await open(serverOfFew.url), `owner${ownerOfFew}`, 'few');
    const ofMany = new ClientGroup(await open(serverOfMany.url), `owner${ownerOfMany}`, 'many');
    await pullOps(ofFew, few * rows);
    await pullOps(ofMany, many * rows);
    const noChange = (group: ClientGroup) => async () => {
      for (let i = 0; i < 3; i++) await group.repeat();
      return (await group.repeat()).ms;
    };
    const oneEach = (group: ClientGroup, owner: number, count: number) => async () => {
      await change(pool, owner, count);
      return (await pullOps(group, count)).ms;
    };
    const quiet = await inTurns(bench.isQuick ? 20 : 100, { few: noChange(ofFew), many: noChange(ofMany) });
    const changing = { few: oneEach(ofFew, ownerOfFew, few), many: oneEach(ofMany, ownerOfMany, many) };
    await inTurns(3, changing);
    const changed = await inTurns(bench.isQuick ? 10 : 40, changing);
    const pulls = bench.isQuick ? 10 : 40;
    const cost = await costOf({ pool, server: serverOfMany }, pulls, async () => {
      for (let i = 0; i < pulls; i++) await changing.many();
    });
    const limitName = `the same with ${few} views`;
    const result = (name: string, samples: Record<'few' | 'many', number[]>): Result => {
      const [value, limit] = [median(samples.many), median(samples.few)];
      return { name, value, unit: 'ms', limit, limitName, ratio: value / limit };
    };
    return [
      { ...result(`no change, ${many} views, p50`, quiet), goals: [ratioAtMost(1.3)] },
      { ...result(`one row in each of ${many} views, p50`, changed), goals: [atMost(8)] },
      ...costResults(`one row in each of ${many} views`, cost),
    ];
  });
}
