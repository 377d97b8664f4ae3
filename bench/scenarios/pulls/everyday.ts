/** Views with outer joins, counts, NOT EXISTS and the like: the cost of one change must not grow with the view. */
import type pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { ratioAtMost } from '../../goal.js';
import { startServer } from '../../processes.js';
import { type Bench, type Result, short, withConnections, withDatabase } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';

const schema = `
  create table person (id integer primary key, name text not null);
  create table member (project_id text, user_id text, primary key (user_id, project_id));
  create table issue (
    id integer primary key, project_id text not null, title text not null, state text not null, assignee_id integer
  );
  create index on issue (project_id);
  create index on issue (assignee_id);
  create table comment (id bigserial primary key, issue_id integer not null, body text not null, at timestamptz not null default now());
  create index on comment (issue_id, at desc, id desc);
  create table label (id integer primary key, name text not null);
  create table issue_label (issue_id integer, label_id integer, primary key (issue_id, label_id));
  create index on issue_label (label_id);
  create table seen (user_id text, issue_id integer, primary key (user_id, issue_id));
  create index on seen (issue_id);
  insert into person select n, 'Person ' || n from generate_series(1, 300) n;
  insert into label select n, 'Label ' || n from generate_series(1, 50) n;`;

const userOf = (size: number) => `user${size}`;

/** A project of so many issues, nine tenths of which its only member has seen; with two comments and two labels each. */
async function addProject(pool: pg.Pool, size: number): Promise<number> {
  const project = `p${size}`;
  await pool.query('insert into member values ($1, $2)', [project, userOf(size)]);
  const { rows } = await pool.query<{ first: number }>('select coalesce(max(id), 0) + 1 as first from issue');
  const first = rows[0]!.first;
  const ids = [first, first + size - 1];
  await pool.query(
    `insert into issue select n, $3, 'Issue ' || n, case n % 2 when 0 then 'open' else 'closed' end, 1 + n % 300
     from generate_series($1::integer, $2::integer) n`,
    [...ids, project],
  );
  await pool.query(
    `insert into comment (issue_id, body) select n, 'Comment on ' || n from generate_series($1::integer, $2::integer) n, generate_series(1, 2)`,
    ids,
  );
  await pool.query(
    `insert into issue_label select n, 1 + (n + m) % 50 from generate_series($1::integer, $2::integer) n, generate_series(1, 2) m`,
    ids,
  );
  await pool.query(`insert into seen select $3, n from generate_series($1::integer, $2::integer) n where n % 10 > 0`, [
    ...ids,
    userOf(size),
  ]);
  return first;
}

const title = `update issue set title = 'Changed ' || random() where id = $1`;
const comment = `insert into comment (issue_id, body) values ($1, 'New ' || random())`;

/** Each view, with a statement that changes one of its rows. The issue is one that its reader has not seen. */
const changes: readonly (readonly [view: string, statement: string])[] = [
  ['plain', title],
  ['assignee', title],
  ['assignee-subselect', title],
  ['count', comment],
  ['group-by', comment],
  [
    'labels',
    `insert into issue_label select $1, id from label l
     where not exists (select from issue_label where issue_id = $1 and label_id = l.id) limit 1`,
  ],
  ['unread', title],
  ['not-in', title],
  ['latest', comment],
  ['with', title],
];

export function everyday(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'everyday', async ({ pool, url }) => {
    await pool.query(schema);
    const firsts = new Map<number, number>();
    for (const size of bench.sizes) firsts.set(size, await addProject(pool, size));
    await pool.query('vacuum analyze');
    const server = await startServer(url, { application: 'everyday' });
    try {
      return await measure(bench, pool, server.url, firsts);
    } finally {
      await server.stop();
    }
  });
}

function measure(bench: Bench, pool: pg.Pool, url: string, firsts: ReadonlyMap<number, number>): Promise<Result[]> {
  const { sizes, isQuick } = bench;
  return withConnections(async (open) => {
    const connection = await open(url);
    const contenders: Record<string, () => Promise<number>> = {};
    for (const size of sizes) {
      for (const [view, statement] of changes) {
        const group = new ClientGroup(connection, userOf(size), `${view} ${size}`, view);
        await group.pull();
        contenders[`${view}, ${short(size)}`] = async () => {
          // What the other contenders have changed is pulled first.
          await group.pull();
          const unseen = firsts.get(size)! + 9 + 10 * Math.floor((Math.random() * size) / 10);
          await pool.query({ name: `change ${view}`, text: statement, values: [unseen] });
          return (await pullOps(group, 1)).ms;
        };
      }
    }
    const samples = await inTurns(isQuick ? 5 : 30, contenders);
    const of = (view: string, size: number) => median(samples[`${view}, ${short(size)}`]!);
    return sizes.flatMap((size) =>
      changes.map(([view]): Result => {
        const result = { name: `everyday, ${view}, ${short(size)}, p50`, value: of(view, size), unit: 'ms' };
        if (view === 'plain') return result;
        const limit = of('plain', size);
        return { ...result, limit, limitName: 'the plain view', ratio: result.value / limit, goals: [ratioAtMost(2)] };
      }),
    );
  });
}
