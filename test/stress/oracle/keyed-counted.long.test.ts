/** Counts work: a delta of an everyday view reads the affected partitions' rows, whatever the view's size. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { parseSnapshot, type Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { readSchemaState } from '../../../packages/tidemark/src/schema/schema-state.js';
import { fullPatch } from '../../../packages/tidemark/src/store/patches/full-patch.js';
import { deltaPatch } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import { literalObservation } from '../../../packages/tidemark/src/store/polls/poll.js';
import { ClientViews, type ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
import type { Strategy } from '../../../packages/tidemark/src/view/compile/strategy.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { loadCode } from './code.js';
import { explainCopy, type PlanWork } from './plan-reads.js';
import { toViews } from './views.js';

const mine = 'i.project_id in (select project_id from member where user_id = $1)';

/** By name: the strategy, the query, and a change of one of the user's rows with the number of ops that it causes. */
const cases: Readonly<Record<string, readonly [strategy: Strategy, text: string, change: string, ops: number]>> = {
  assignee: [
    'keyed',
    `select i.id, i.title, p.name from issue i left join person p on p.id = i.assignee_id where ${mine}`,
    `update person set name = 'changed' where id = 7`,
    24,
  ],
  subselect: [
    'keyed',
    `select i.id, (select p.name from person p where p.id = i.assignee_id) as name from issue i where ${mine}`,
    `update issue set assignee_id = 9 where id = 1001`,
    1,
  ],
  counted: [
    'keyed',
    `select i.id, (select count(*) from comment c where c.issue_id = i.id) as n from issue i where ${mine}`,
    'insert into comment values (1000001, 2001)',
    1,
  ],
  grouped: [
    'keyed',
    `select i.id, count(c.id) as n from issue i left join comment c on c.issue_id = i.id where ${mine} group by i.id`,
    'insert into comment values (1000002, 2001)',
    1,
  ],
  derived: [
    'keyed',
    `select i.id, c.n from issue i left join (select issue_id, count(*) as n from comment group by issue_id) c on c.issue_id = i.id
     where ${mine}`,
    'insert into comment values (1000003, 2001)',
    1,
  ],
  unread: [
    'keyed',
    `select i.id from issue i where ${mine} and not exists (select from seen s where s.issue_id = i.id and s.user_id = $1)`,
    `insert into seen values ('me', 3001)`,
    1,
  ],
  'not in': [
    'keyed',
    `select i.id from issue i where ${mine} and i.id not in (select issue_id from seen where user_id = $1)`,
    `insert into seen values ('me', 4001)`,
    1,
  ],
  latest: [
    'keyed',
    `select i.id, c.id as comment from issue i left join lateral (
       select id from comment where issue_id = i.id order by id desc limit 1) c on true where ${mine}`,
    'insert into comment values (1000004, 2001)',
    1,
  ],
  with: [
    'keyed',
    `with mine as (select * from issue i where ${mine}) select m.id, p.name from mine m left join person p on p.id = m.assignee_id`,
    `update issue set assignee_id = 10 where id = 5001`,
    1,
  ],
  except: [
    'keyed',
    `select i.id from issue i where ${mine} except select issue_id from seen where user_id = $1`,
    `insert into seen values ('me', 7001)`,
    1,
  ],
  'full join': [
    'keyed',
    `select coalesce(i.id, s.issue_id) as id, i.title from (select * from issue i where ${mine}) i
     full join (select issue_id from seen where user_id = $1) s on s.issue_id = i.id`,
    `insert into seen values ('me', 200001)`,
    1,
  ],
  'distinct on': [
    'keyed',
    `select distinct on (c.issue_id) c.issue_id as id, c.id as first from comment c join issue i on i.id = c.issue_id
     where ${mine} order by c.issue_id, c.id`,
    'insert into comment values (-1, 2021)',
    1,
  ],
  numbered: [
    'keyed',
    `select x.id, x.place from (
       select c.id, c.issue_id, row_number() over (partition by c.issue_id order by c.id) as place
       from comment c join issue i on i.id = c.issue_id where ${mine}) x where x.place <= 2`,
    'insert into comment values (-2, 2041)',
    3,
  ],
  top: [
    'keyed',
    `select i.id, i.title from issue i where i.project_id = (select project_id from member where user_id = $1)
     order by i.id desc limit 50`,
    `update issue set title = 'changed' where id = 99981`,
    1,
  ],
  'top of more': [
    'keyed',
    `select i.id, p.name, (select count(*) from comment c where c.issue_id = i.id) as n from issue i
     left join person p on p.id = i.assignee_id
     where i.project_id = (select project_id from member where user_id = $1) order by i.id desc limit 50`,
    'insert into comment values (1000005, 99961)',
    1,
  ],
  total: [
    'compare',
    `select i.project_id as id, 1 as one from issue i where ${mine} group by i.project_id, 1 having count(*) > 1 order by 1 fetch first 2 rows with ties`,
    '',
    0,
  ],
};

const issues = 100_000;
const me = { ctx: { userID: 'me' }, profileID: '', schemaVersion: '' };

/** A twentieth of the issues belongs to the user, namely those whose number modulo 20 is 1. */
const fill = `
  create table person (id int primary key, name text not null);
  create table member (project_id int, user_id text, primary key (user_id, project_id));
  create table issue (id int primary key, project_id int not null, title text not null, assignee_id int);
  create table comment (id int primary key, issue_id int not null);
  create table seen (user_id text, issue_id int, primary key (user_id, issue_id));
  alter table person set (autovacuum_enabled = off); alter table member set (autovacuum_enabled = off);
  alter table issue set (autovacuum_enabled = off); alter table comment set (autovacuum_enabled = off);
  alter table seen set (autovacuum_enabled = off);
  create index on issue (project_id, id); create index on issue (assignee_id);
  create index on comment (issue_id); create index on seen (issue_id);
  insert into person select n, 'person ' || n from generate_series(0, 999) n;
  insert into member select n, case when n = 1 then 'me' else 'other' end from generate_series(0, 19) n;
  insert into issue select n, n % 20, 'issue', n / 20 % 1000 from generate_series(1, ${issues}) n;
  update issue set assignee_id = 7 where id in (select id from issue where project_id = 1 order by id limit 20);
  insert into comment select n, 1 + n % ${issues} from generate_series(1, ${2 * issues}) n;
  insert into seen select 'me', n from generate_series(1, ${issues}) n where n % 7 = 0;
  analyze;`;

let database: TestDatabase;
let db: Database;
let clientViews: ClientViews<{ readonly userID: string }>;
let resolved: readonly ResolvedView[];
let tables: readonly SyncedTable[];

beforeAll(async () => {
  const views = toViews(
    Object.entries(cases).map(([name, [strategy, text]]) => ({ name, strategy, key: ['id'], text })),
  );
  database = await createTestDatabase();
  await database.pool.query(fill);
  await (await loadCode()).migrate({ database: database.url, views, log: silent });
  db = openPool(database.url);
  clientViews = new ClientViews(db, views);
  resolved = await clientViews.resolve(me, '');
  const tablesByOID = new Map(resolved.flatMap((view) => view.tables).map((table) => [table.oid, table]));
  ({ tables } = await readSchemaState(db, [...tablesByOID.values()]));
}, 120_000);

afterAll(async () => {
  await db.close();
  await database.drop();
});

async function snapshot(): Promise<Snapshot> {
  const { rows } = await database.pool.query<{ text: string }>('select pg_current_snapshot()::text as text');
  return parseSnapshot(rows[0]!.text)!;
}

/** The ops of a view after a change, and Postgres's work for them. */
async function deltaAfter(name: string, change: string, rows = 1): Promise<PlanWork & { readonly ops: string[] }> {
  const view = resolved.find((one) => one.view.name === name)!;
  const base = await snapshot();
  await database.pool.query(change);
  const changed = await database.pool.query<{ id: number }>(
    `select distinct table_id as id from tidemark.change where xid >= '${base.xmax}'::xid8`,
  );
  const ids = changed.rows.map(({ id }) => id);
  const observation = literalObservation({ base, tables: tables.map(({ id }) => id), groupIDs: ['g'] }, tables);
  const changes = tables.filter(({ id }) => ids.includes(id)).map((table) => ({ table, rows }));
  const copy = deltaPatch(observation, [view], changes, base);
  let text = '';
  for await (const chunk of db.copy(copy)) text += Buffer.from(chunk).toString();
  const [, ...ops] = text.split('\n').filter((line) => line !== '');
  return { ops, ...(await explainCopy(database.pool, copy)) };
}

const synced = ['person', 'member', 'issue', 'comment', 'seen'];

/** By view, the tables' rows that its delta reads. */
const scansByView = new Map<string, readonly string[]>();

it.each(Object.entries(cases))('the view "%s" has the expected strategy', (name, [strategy]) => {
  expect(resolved.find(({ view }) => view.name === name)!.view.strategy).toBe(strategy);
});

it.each(Object.entries(cases).filter(([, [, , , count]]) => count > 0))(
  'the delta of "%s" reads only the rows that a change affects',
  async (name, [, , change, count]) => {
    const { ops, reads, scans } = await deltaAfter(name, change);
    expect(ops).toHaveLength(count);
    const ofTables = scans.filter((scan) => synced.includes(scan.replace('all of ', '').split(' ')[0]!));
    expect(ofTables.filter((scan) => scan.startsWith('all of') && scan !== 'all of member')).toEqual([]);
    scansByView.set(name, ofTables);
    for (const table of synced) expect(reads[table] ?? 0, JSON.stringify(reads)).toBeLessThan(20 * count + 200);
  },
);

it.each(Object.keys(cases))('the delta of "%s" reads none of its rows after a change for other users', async (name) => {
  const { ops, reads } = await deltaAfter(name, `update issue set title = 'changed' where project_id = 2 and id < 100`);
  expect(ops).toEqual([]);
  for (const table of synced) expect(reads[table] ?? 0, JSON.stringify(reads)).toBeLessThan(200);
});

it.each([
  ['assignee', 'update issue set title = title || 1 where project_id = 1 and id < $'],
  ['subselect', 'update issue set title = title || 2, assignee_id = 9 where project_id = 1 and id < $'],
  ['counted', 'update comment set issue_id = issue_id + 20 where issue_id % 20 = 1 and issue_id < $'],
])('the delta of "%s" does not scan all old rows for each partition', async (name, change) => {
  const works: number[] = [];
  for (const [n, maxID] of [
    [500, 10_000],
    [2_000, 40_000],
  ] as const) {
    const { rows } = await deltaAfter(name, change.replace('$', `${maxID}`), n);
    works.push(rows);
  }
  // Four times as many changes, each with about twice the work.
  expect(works[1]! / works[0]!).toBeLessThan(9);
});

/** The partitions of these views are not divided by their keys. */
const undivided = ['top', 'top of more', 'numbered'];

it.each(Object.keys(cases).filter((name) => cases[name]![0] === 'keyed' && !undivided.includes(name)))(
  'one row of "%s", read by its key, costs only the rows that it consists of',
  async (name) => {
    const [row] = await clientViews.resolveQueries(clientViews.queries(me, { part: { view: name, key: '6001' } }), '');
    const base = await snapshot();
    const observation = literalObservation({ base, tables: tables.map(({ id }) => id), groupIDs: ['g'] }, tables);
    const { statement } = fullPatch(observation, [row!], 'rows');
    let text = '';
    for await (const chunk of db.copy(statement)) text += Buffer.from(chunk).toString();
    expect(text.split('\n').filter((line) => line.startsWith('0\t'))).toHaveLength(1);
    const { reads } = await explainCopy(database.pool, statement);
    for (const table of synced) expect(reads[table] ?? 0, JSON.stringify(reads)).toBeLessThan(50);
  },
);

const heading = `# What a delta reads

How Postgres 18 reads the tables for the delta of each view, after one change among 100,000 issues. The user sees 5,000
of them. \`test/stress/oracle/keyed-counted.long.test.ts\` defines the views and checks this page. It also checks that no
delta reads a whole table, except \`member\`, which has twenty rows. After a change that does not affect the view, a delta
reads none of this.
`;

it('internals/plans.md shows each view, a change, and the indexes that its delta uses', async () => {
  const shown = [...scansByView].map(([name, scans]) => {
    const [, text, change] = cases[name]!;
    const query = text.replace(/\n\s*/g, '\n  ').replaceAll(` where ${mine}`, `\n  where ${mine}`);
    return [`-- ${name}`, `${query};`, `-- after: ${change}`, ...scans.map((scan) => `--   ${scan}`)].join('\n');
  });
  const page = `${heading}\n\`\`\`text\n${shown.join('\n\n')}\n\`\`\`\n`;
  await expect(page).toMatchFileSnapshot('../../../internals/plans.md');
});
