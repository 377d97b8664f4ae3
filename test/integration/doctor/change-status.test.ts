/** The costs of changes in the output of `tidemark status`. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { type ChangeStatus, readChanges } from '../../../packages/tidemark/src/doctor/change-status.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { partitionColumns } from '../../../packages/tidemark/src/view/change-costs.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create table person (id int primary key, name text);
    create table member (project_id int, user_id int, primary key (user_id, project_id));
    create table issue (id int primary key, project_id int, assignee_id int, title text);
    create table comment (id int primary key, issue_id int, author_id int) partition by range (id);
    create table comment_1 partition of comment for values from (0) to (1000);
    create table comment_2 partition of comment for values from (1000) to (2000);
    create index on comment_1 (issue_id);
    create index on issue (project_id, title);
  `);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Described {
  readonly partition: readonly string[];
  readonly changes: Readonly<Record<string, readonly [cost: ChangeStatus['cost'], ...indexes: string[]]>>;
}

async function described(text: string, key = ['id']): Promise<Described> {
  const analysis = await analyze(db, text, key, true);
  const changes = await readChanges(db, analysis);
  const index = ({ table, columns, exists }: ChangeStatus['indexes'][number]) =>
    `${exists ? '' : 'no '}${table} (${columns})`;
  return {
    partition: partitionColumns(analysis),
    changes: Object.fromEntries(
      changes.map(({ table, cost, indexes }) => [table, [cost, ...indexes.map(index)]] as const),
    ),
  };
}

it('an incremental view reads the changed rows, and the rows that they are joined with', async () => {
  expect(
    await described(
      'select i.id from issue i where i.project_id in (select m.project_id from member m where m.user_id = $1)',
    ),
  ).toEqual({
    partition: [],
    changes: {
      'public.issue': ['changed rows'],
      'public.member': ['changed rows', 'public.issue (project_id)'],
    },
  });
});

it('a keyed view reads the affected partitions', async () => {
  expect(
    await described(`
      select i.id, p.name, (select count(*) from comment c where c.issue_id = i.id) as n
      from issue i left join person p on p.id = i.assignee_id where i.project_id = $1`),
  ).toEqual({
    partition: ['issue.id'],
    changes: {
      'public.issue': ['affected partitions'],
      'public.person': ['affected partitions', 'no public.issue (assignee_id)'],
      'public.comment': ['affected partitions', 'no public.comment (issue_id)'],
    },
  });
});

it('a change of a table without a connection to the partitions costs the whole view', async () => {
  expect(
    await described('select i.id, (select count(*) from person) as people from issue i where i.project_id = $1'),
  ).toEqual({
    partition: ['issue.id'],
    changes: { 'public.issue': ['affected partitions'], 'public.person': ['whole view'] },
  });
});

it('a view that is compared is read as a whole', async () => {
  expect(await described('select count(*) as id from issue where project_id = $1')).toEqual({
    partition: [],
    changes: { 'public.issue': ['whole view'] },
  });
});
