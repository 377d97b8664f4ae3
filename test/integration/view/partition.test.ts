/** How views are divided into partitions, and the companion queries that find the partitions that changes affect. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { deparseSelect } from '../../../packages/tidemark/src/view/parse/syntax.js';
import { cloneTree, type Tree } from '../../../packages/tidemark/src/view/parse/tree.js';
import type { CompanionQuery } from '../../../packages/tidemark/src/view/partition/companions.js';
import { restrict } from '../../../packages/tidemark/src/view/partition/restrict.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create table users (id int primary key, name text);
    create table member (project_id int, user_id int, primary key (project_id, user_id));
    create table issue (id int primary key, project_id int, title text, assignee_id int, state text, parent_id int, n numeric);
    create table comment (id int primary key, issue_id int, author_id int, body text, at timestamptz);
    create table seen (user_id int, issue_id int, primary key (user_id, issue_id));
  `);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const inOneLine = (select: Tree) => deparseSelect(select).replace(/\s+/g, ' ');

/** Returns the changed tables, and the query that finds the partitions that they affect. */
function written({ select, focuses }: CompanionQuery): string {
  const tables = select.fromClause as { RangeVar: { alias: { aliasname: string } } }[];
  return `${focuses.map((focus) => tables[focus]!.RangeVar.alias.aliasname)}: ${inOneLine(select)}`;
}

async function divide(
  text: string,
  key = 'id',
): Promise<{ readonly companions: string[]; readonly restricted: string }> {
  const { inlined, partition } = await analyze(db, text, key.split(' '));
  const select = cloneTree(inlined);
  restrict(select, partition?.restrictionPoints ?? [], 'one');
  return { companions: (partition?.queries ?? []).map(written), restricted: inOneLine(select) };
}

const isOfPartition = (column: string) => `${column} = tidemark_c.tidemark_r1`;

describe('companion queries', () => {
  it.each<[name: string, text: string, companions: string[]]>([
    [
      'of an outer join join it as an inner one',
      'select i.id, u.name from issue i left join users u on u.id = i.assignee_id where i.project_id = $1',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1 WHERE t1.project_id = $1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, users AS t2 WHERE t2.id = t1.assignee_id AND t1.project_id = $1',
      ],
    ],
    [
      'of a chain of outer joins include the joins in between',
      'select i.id, p.title, u.name from issue i left join issue p on p.id = i.parent_id left join users u on u.id = p.assignee_id',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, issue AS t2 WHERE t2.id = t1.parent_id',
        't3: SELECT t1.id AS tidemark_r1 FROM issue AS t1, issue AS t2, users AS t3 WHERE t2.id = t1.parent_id AND t3.id = t2.assignee_id',
      ],
    ],
    [
      'of an outer join whose rows a condition needs are those of an inner join',
      'select i.id, count(*) as n from issue i left join users u on u.id = i.assignee_id where u.name = $1 group by i.id',
      [
        't1,t2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, users AS t2 WHERE t2.id = t1.assignee_id AND t2.name = $1',
      ],
    ],
    [
      'of a condition on nulls leave it out',
      'select i.id from issue i left join users u on u.id = i.assignee_id where u.id is null',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, users AS t2 WHERE t2.id = t1.assignee_id',
      ],
    ],
    [
      'of a count in the select list join what it counts, without the aggregate',
      'select i.id, (select count(*) from comment c where c.issue_id = i.id and c.author_id = $1) as n from issue i',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t2.issue_id = t1.id AND t2.author_id = $1',
      ],
    ],
    [
      'of two NOT EXISTS leave the other one out, because both can change together',
      `select i.id from issue i where not exists (select from seen s where s.issue_id = i.id)
       and not exists (select from comment c where c.issue_id = i.id)`,
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't3: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t3 WHERE t3.issue_id = t1.id',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, seen AS t2 WHERE t2.issue_id = t1.id',
      ],
    ],
    [
      'of NOT IN search for equal values and for nulls',
      'select i.id from issue i where i.id not in (select c.issue_id from comment c)',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t1.id = t2.issue_id',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t2.issue_id IS NULL',
      ],
    ],
    [
      'of HAVING leave it out, because an insert can remove a group from the view',
      'select issue_id as id from comment where author_id = $1 group by issue_id having count(*) < 5',
      ['t1: SELECT t1.issue_id AS tidemark_r1 FROM comment AS t1 WHERE t1.author_id = $1'],
    ],
    [
      'of a grouped subquery in FROM are connected by its groups',
      'select i.id, c.n from issue i left join (select issue_id, count(*) as n from comment group by issue_id) c on c.issue_id = i.id',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t2.issue_id = t1.id',
      ],
    ],
    [
      'of a condition on the row chosen by DISTINCT ON leave it out, because the choice can change',
      `select i.id from issue i join (
         select distinct on (issue_id) issue_id, author_id from comment order by issue_id, at desc, id
       ) c on c.issue_id = i.id where c.author_id = $1`,
      ['t1,t2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t2.issue_id = t1.id'],
    ],
    [
      'of a full join search for the rows of both sides and for those that match',
      'select id, i.title, u.name from issue i full join users u using (id)',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, users AS t2 WHERE t1.id = t2.id',
        't2: SELECT t2.id AS tidemark_r1 FROM users AS t2',
        't1: SELECT t2.id AS tidemark_r1 FROM users AS t2, issue AS t1 WHERE t1.id = t2.id',
      ],
    ],
    [
      'of a full join whose rows of one side a condition needs are those of an outer join',
      'select u.id, i.title from issue i full join users u on u.id = i.id where u.name = $1',
      [
        't2: SELECT t2.id AS tidemark_r1 FROM users AS t2 WHERE t2.name = $1',
        't1: SELECT t2.id AS tidemark_r1 FROM users AS t2, issue AS t1 WHERE t2.id = t1.id AND t2.name = $1',
      ],
    ],
    [
      'of the latest row from LATERAL leave out its LIMIT',
      `select i.id, c.body from issue i left join lateral (
         select body from comment where issue_id = i.id order by at desc, id limit 1
       ) c on true`,
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, comment AS t2 WHERE t2.issue_id = t1.id AND true',
      ],
    ],
    [
      'of an OR with subqueries have a join for each alternative',
      `select i.id, count(*) as n from issue i where i.assignee_id = $1
         or exists (select from member m where m.project_id = i.project_id and m.user_id = $1) group by i.id`,
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1 WHERE t1.assignee_id = $1',
        't1,t2: SELECT t1.id AS tidemark_r1 FROM issue AS t1, member AS t2 WHERE t2.project_id = t1.project_id AND t2.user_id = $1',
      ],
    ],
    [
      'of conditions that can fail leave them out',
      'select i.id, count(*) as n from issue i where i.title::int > 3 and i.project_id = $1 group by i.id',
      ['t1: SELECT t1.id AS tidemark_r1 FROM issue AS t1 WHERE t1.project_id = $1'],
    ],
    [
      'of EXCEPT are those of both sides',
      'select id from issue except select issue_id from seen where user_id = $1',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1',
        't2: SELECT t2.issue_id AS tidemark_r1 FROM seen AS t2 WHERE t2.user_id = $1',
      ],
    ],
    [
      'of a total count show only whether it may differ',
      'select count(*) as id from issue where project_id = $1',
      ['t1: SELECT FROM issue AS t1 WHERE t1.project_id = $1'],
    ],
    [
      'of a table that affects any row show only whether a row may differ',
      'select i.id, (select max(body) from comment where author_id = $1) as latest from issue i where i.project_id = $2',
      [
        't1: SELECT t1.id AS tidemark_r1 FROM issue AS t1 WHERE t1.project_id = $2',
        't2: SELECT FROM comment AS t2 WHERE t2.author_id = $1',
      ],
    ],
  ])('%s', async (_, text, companions) => {
    expect((await divide(text)).companions).toEqual(companions);
  });

  it('do not exist for a recursive query', async () => {
    const { strategy, partition } = await analyze(
      db,
      `with recursive r as (select id from issue where parent_id is null union select i.id from issue i join r on i.parent_id = r.id)
       select id from r`,
      ['id'],
    );
    expect(strategy).toBe('compare');
    expect(partition).toBeUndefined();
  });
});

describe('a query', () => {
  it.each([
    [
      'before it groups',
      'select i.id, count(*) as n from issue i group by i.id having count(*) > 1',
      `SELECT i.id, count(*) AS n FROM issue AS i WHERE ${isOfPartition('i.id')} GROUP BY i.id HAVING count(*) > 1`,
    ],
    [
      'on both sides of EXCEPT',
      'select id from issue except select issue_id from seen',
      `SELECT id FROM issue WHERE ${isOfPartition('issue.id')} EXCEPT SELECT issue_id FROM seen WHERE ${isOfPartition('seen.issue_id')}`,
    ],
    [
      'inside a WITH query',
      'with mine as (select * from issue where project_id = $1) select m.id, u.name from mine m left join users u on u.id = m.assignee_id',
      `SELECT m.id, u.name FROM ( SELECT * FROM issue WHERE project_id = $1 AND ${isOfPartition('issue.id')} ) AS m LEFT JOIN users AS u ON u.id = m.assignee_id`,
    ],
    [
      'where the names of columns are merged',
      'select id, name from issue left join users using (id)',
      `SELECT id, name FROM issue LEFT JOIN users USING (id) WHERE ${isOfPartition('issue.id')}`,
    ],
    [
      'where a full join merges columns',
      'select id, title, name from issue full join users using (id)',
      `SELECT id, title, name FROM issue FULL JOIN users USING (id) WHERE ${isOfPartition('id')}`,
    ],
    [
      'where a query merges the columns of a full join itself',
      'select coalesce(i.id, u.id) as id, u.name from issue i full join users u on u.id = i.id',
      `SELECT COALESCE(i.id, u.id) AS id, u.name FROM issue AS i FULL JOIN users AS u ON u.id = i.id WHERE ${isOfPartition('(COALESCE(u.id, i.id))')}`,
    ],
    [
      'where full joins merge columns one after the other',
      'select id, title, body from issue full join users using (id) full join comment using (id)',
      `SELECT id, title, body FROM issue FULL JOIN users USING (id) FULL JOIN comment USING (id) WHERE ${isOfPartition('id')}`,
    ],
  ])('is restricted to a partition %s', async (_, text, restricted) => {
    expect((await divide(text)).restricted).toBe(restricted);
  });

  it('is restricted before it numbers rows if all windows have the partition’s columns', async () => {
    const text = (over: string) =>
      `select id, state, rn from (select id, state, row_number() over (${over}order by id) as rn from issue) x where rn < 9`;
    expect((await divide(text('partition by state '), 'state id')).restricted).toContain(
      `FROM issue WHERE ${isOfPartition('issue.state')} ) AS x WHERE rn < 9`,
    );
    // The key need not include the partition's columns if no two rows share it.
    expect((await divide(text('partition by state '))).restricted).toContain(isOfPartition('issue.state'));
    expect((await divide(text(''), 'state id')).restricted).not.toContain('tidemark_c');
  });

  it('is restricted by a table’s primary key if its own key is computed and unique', async () => {
    const { companions, restricted } = await divide(
      'select i.id::text as id, u.name from issue i left join users u on u.id = i.assignee_id',
    );
    expect(companions[0]).toBe('t1: SELECT t1.id AS tidemark_r1 FROM issue AS t1');
    expect(restricted).toContain(`WHERE ${isOfPartition('i.id')}`);
  });

  it('is restricted to one of the rows for which LATERAL reads', async () => {
    const { companions, restricted } = await divide(
      `select c.id, c.body from member m cross join lateral (
         select * from comment where author_id = m.user_id order by at desc, id limit 3
       ) c where m.project_id = 1`,
    );
    expect(companions).toEqual([
      't1,t2: SELECT t1.project_id AS tidemark_r1, t1.user_id AS tidemark_r2 FROM member AS t1, comment AS t2 WHERE t2.author_id = t1.user_id AND t1.project_id = 1',
    ]);
    expect(restricted).toContain('m.project_id = tidemark_c.tidemark_r1 AND m.user_id = tidemark_c.tidemark_r2');
  });

  it('is restricted by merged columns that it groups by', async () => {
    const text =
      'select id, count(*) as n from issue full join users using (id) full join comment using (id) group by id having count(*) > 1';
    expect((await divide(text)).restricted).toContain(' = tidemark_c.tidemark_r1 GROUP BY id');
  });

  it('is not restricted by COALESCE of columns that a full join does not compare', async () => {
    const text = (on: string) =>
      `select coalesce(i.parent_id, u.id) as id, u.name from issue i full join users u on ${on}`;
    expect((await analyze(db, text('i.parent_id = u.id'), ['id'])).strategy).toBe('keyed');
    expect((await analyze(db, text('i.id = u.id'), ['id'])).strategy).toBe('compare');
  });

  it('is not restricted if a join hides the table', async () => {
    const text = (name: string) =>
      `select ${name}.id::text as id, u.name from (issue i join member m on m.project_id = i.id and m.user_id = 1) ${name === 'i' ? '' : name}
       left join users u on u.id = ${name}.assignee_id`;
    expect((await analyze(db, text('i'), ['id'])).strategy).toBe('keyed');
    expect((await analyze(db, text('j'), ['id'])).strategy).toBe('compare');
  });

  it('is not restricted if rows of several partitions may have the same key', async () => {
    const { strategy } = await analyze(
      db,
      'select i.title as id, u.name from issue i left join users u on u.id = i.assignee_id',
      ['id'],
    );
    expect(strategy).toBe('keyed');
    const other = await analyze(
      db,
      'select lower(i.title) as id, u.name from issue i left join users u on u.id = i.assignee_id',
      ['id'],
    );
    expect(other.strategy).toBe('compare');
  });
});
