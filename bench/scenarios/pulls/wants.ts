/** Measures clients that want instances of a view with arguments, compared with clients of a view without arguments. */
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { ratioAtMost } from '../../goal.js';
import { startServer } from '../../processes.js';
import { type Bench, type Result, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, median, ratePerSecond } from '../../statistics.js';

const projects = 1_200;
/** The first projects are large, as pages that a user opens. */
const largeProjects = 110;
const [issuesOfLarge, issuesOfOthers] = [1000, 10];
const shared = projects;
const instances = 100;
const few = 16;

/** Returns the JSON of the wants for some projects. */
function wantsFor(wanted: readonly number[]): string {
  return JSON.stringify(wanted.map((project) => ({ view: 'issue', args: { project } })));
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, i) => from + i);

export function wants(bench: Bench): Promise<Result[]> {
  const users = bench.isQuick ? 50 : 1000;
  return withDatabase(bench, 'wants', async ({ pool, url }) => {
    await createTables(pool, users);
    const server = await startServer(url, { application: 'wants' });
    try {
      return [
        ...(await unchanged(bench, server.url)),
        ...(await changed(bench, pool, server.url)),
        ...(await opened(bench, server.url)),
        ...(await manyUsers(bench, pool, server.url, users)),
      ];
    } finally {
      await server.stop();
    }
  });
}

/** The user `ann` is a member of all large projects, each other user of 19 projects and of the shared one. */
async function createTables(pool: pg.Pool, users: number): Promise<void> {
  await pool.query(`
    create table member (project integer, user_id text, primary key (project, user_id));
    create index on member (user_id);
    create table issue (id integer primary key, project integer not null, title text not null);
    create index on issue (project)`);
  await pool.query(
    `insert into issue select row_number() over (), p, 'Issue ' || n from generate_series(1, $1::integer) p
     cross join lateral generate_series(1, case when p <= $2 then $3::integer else $4::integer end) n`,
    [projects, largeProjects, issuesOfLarge, issuesOfOthers],
  );
  await pool.query(`insert into member select p, 'ann' from generate_series(1, $1::integer) p`, [largeProjects]);
  await pool.query(
    `insert into member select case when n = 20 then $2::integer else $3::integer + 1 + (u * 19 + n) % ($2::integer - $3::integer - 1) end, 'user' || u
     from generate_series(1, $1::integer) u, generate_series(1, 20) n on conflict do nothing`,
    [users, shared, largeProjects],
  );
  await pool.query('vacuum analyze');
}

function unchanged({ isQuick }: Bench, url: string): Promise<Result[]> {
  return withConnections(async (open) => {
    const connections = await Promise.all(upTo(few).map(() => open(url)));
    const contenders: Record<string, () => Promise<number>> = {};
    for (const [name, wanted] of [
      ['plain', undefined],
      ['one', upTo(1)],
      ['hundred', upTo(instances)],
    ] as const) {
      const groups = connections.map((connection, i) => clientOf(connection, 'ann', `${name}${i}`, wanted));
      for (const group of groups) await group.pull();
      contenders[name] = () => ratePerSecond(few, isQuick ? 100 : 300, (worker) => groups[worker]!.repeat());
    }
    const rates = await inTurns(isQuick ? 2 : 12, contenders);
    const [limit, value] = [1e6 / median(rates.plain!), 1e6 / median(rates.hundred!)];
    const common = { unit: 'µs', limit, limitName: 'a view without arguments' };
    const one = 1e6 / median(rates.one!);
    return [
      { name: `unchanged, 1 instance, ${few} at once`, value: one, ratio: one / limit, ...common },
      {
        name: `unchanged, ${instances} instances, ${few} at once`,
        value,
        ratio: value / limit,
        goals: [ratioAtMost(1.3)],
        ...common,
      },
    ];
  });
}

function changed({ isQuick }: Bench, pool: pg.Pool, url: string): Promise<Result[]> {
  return withConnections(async (open) => {
    const contenders: Record<string, () => Promise<number>> = {};
    for (const [name, wanted] of [
      ['one', upTo(1)],
      ['hundred', upTo(instances)],
    ] as const) {
      const group = clientOf(await open(url), 'ann', `changed ${name}`, wanted);
      await group.pull();
      contenders[name] = async () => {
        await pool.query({
          name: 'change',
          text: 'update issue set title = $1 where id = 5',
          values: [`${Math.random()}`],
        });
        return (await pullOps(group, 1)).ms;
      };
    }
    const samples = await inTurns(isQuick ? 10 : 150, contenders);
    const [limit, value] = [median(samples.one!), median(samples.hundred!)];
    return [
      {
        name: `one row changed, ${instances} instances, p50`,
        value,
        unit: 'ms',
        limit,
        limitName: 'with one instance',
        ratio: value / limit,
        goals: [ratioAtMost(1.5)],
      },
    ];
  });
}

function opened({ isQuick }: Bench, url: string): Promise<Result[]> {
  return withConnections(async (open) => {
    const group = clientOf(await open(url), 'ann', 'opening', upTo(instances));
    const alone = clientOf(await open(url), 'ann', 'alone', [instances + 1]);
    await group.pull();
    const pull = async (one: ClientGroup, wanted: readonly number[], ops: number) => {
      one.wants = wantsFor(wanted);
      return (await pullOps(one, ops)).ms;
    };
    const samples = await inTurns(isQuick ? 3 : 15, {
      alone: async () => {
        alone.cookie = 'null';
        return (await pullOps(alone, issuesOfLarge)).ms;
      },
      open: async () => {
        const ms = await pull(group, upTo(instances + 1), issuesOfLarge);
        await pull(group, upTo(instances), issuesOfLarge);
        return ms;
      },
      close: async () => {
        await pull(group, upTo(instances + 1), issuesOfLarge);
        return pull(group, upTo(instances), issuesOfLarge);
      },
    });
    const limit = median(samples.alone!);
    return (['open', 'close'] as const).map((verb): Result => {
      const value = median(samples[verb]!);
      const name = `${verb} instance ${instances + 1}, of ${issuesOfLarge} rows, p50`;
      return { name, value, unit: 'ms', limit, limitName: 'a first pull of it alone', ratio: value / limit };
    });
  });
}

function manyUsers({ isQuick, progress }: Bench, pool: pg.Pool, url: string, users: number): Promise<Result[]> {
  return withConnections(async (open) => {
    const connections = await Promise.all(upTo(users).map(() => open(url)));
    const { rows } = await pool.query<{ user_id: string; projects: number[] }>(
      `select user_id, array_agg(project order by project) as projects from member where user_id <> 'ann' group by 1`,
    );
    const contenders: Record<string, () => Promise<number>> = {};
    for (const name of ['plain', 'wants'] as const) {
      progress(`wants: ${users} users, ${name}`);
      const groups = rows.map((row, i) =>
        clientOf(connections[i]!, row.user_id, `${name} ${i}`, name === 'plain' ? undefined : row.projects),
      );
      for (let i = 0; i < groups.length; i += 8) await Promise.all(groups.slice(i, i + 8).map((group) => group.pull()));
      contenders[name] = async () => {
        await pool.query('update issue set title = $2 where id = (select max(id) from issue where project = $1)', [
          shared,
          `${Math.random()}`,
        ]);
        const started = performance.now();
        await Promise.all(groups.map((group) => pullOps(group, 1)));
        return performance.now() - started;
      };
    }
    await inTurns(1, contenders);
    const samples = await inTurns(isQuick ? 2 : 7, contenders);
    const [limit, value] = [median(samples.plain!), median(samples.wants!)];
    return [
      {
        name: `${users} users with 20 instances each after one shared change`,
        value,
        unit: 'ms',
        limit,
        limitName: 'a view without arguments',
        ratio: value / limit,
        goals: [ratioAtMost(2)],
      },
    ];
  });
}

/** @param wanted the wanted projects; undefined for a client of the view without arguments */
function clientOf(
  connection: ConstructorParameters<typeof ClientGroup>[0],
  user: string,
  id: string,
  wanted: readonly number[] | undefined,
): ClientGroup {
  const group = new ClientGroup(connection, user, id, wanted ? 'wants' : 'plain');
  if (wanted) group.wants = wantsFor(wanted);
  return group;
}
