import { readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { descriptions, labels, parts, people, remarks, teams, things, titles } from './words.js';

const insertPeople = `
  insert into person (id, name, hue)
  select lower(name), name, (n * 137) % 360 from unnest($1::text[]) with ordinality as named (name, n)`;

const insertLabels = `
  insert into label (name, hue) select name, (n * 47) % 360 from unnest($1::text[]) with ordinality as named (name, n)`;

const insertProjects = `
  insert into project (id, team, key, name, hue)
  select lower(team || '-' || replace(part, ' ', '-')), team, upper(left(team, 3)), part, (n * 83) % 360
  from unnest($1::text[]) with ordinality as teams (team, n), unnest($2::text[]) as part`;

/** Ann is a member of all projects, the others of some. */
const insertMembers = `
  insert into member (project_id, person_id)
  select project.id, person.id from project, person
  where person.id = 'ann' or hashtext(project.id || person.id) % 3 <> 0`;

/** One project stays empty. `a`, `b` and `c` look random and are always the same. */
const insertIssues = `
  insert into issue
    (id, project_id, number, title, description, status, priority, assignee_id, creator_id, created_at)
  select
    'issue-' || n,
    project.id,
    row_number() over (partition by project.key order by n),
    upper(left(title, 1)) || substr(title, 2),
    ($4::text[])[1 + a / 100 % 6],
    case
      when a % 100 < 2 then 'progress' when a % 100 < 3 then 'review' when a % 100 < 14 then 'todo'
      when a % 100 < 45 then 'backlog' when a % 100 < 93 then 'done' else 'canceled'
    end,
    (array[1, 2, 2, 3, 3, 3, 4, 4, 0, 0])[1 + b % 10],
    case when b / 10 % 4 <> 0 then lower(($5::text[])[1 + b / 40 % 12]) end,
    lower(($5::text[])[1 + b / 480 % 12]),
    date_trunc('minute', now() - (($1 - n) * interval '300 days' / $1) - interval '2 hours')
  from
    (
      select n, hashint4(n) & 2147483647 as a, hashint4(n + $1) & 2147483647 as b, hashint4(-n) & 2147483647 as c
      from generate_series(1, $1::integer) as n
    ) as numbered
    join (select *, row_number() over (order by id) as position from project where id <> 'teams-ideas') as project
      on project.position = 1 + c / 1008 % 199,
    lateral (select format(($2::text[])[1 + c % 36], ($3::text[])[1 + c / 36 % 28]) as title) as titled`;

const insertNumbers = `
  insert into issue_number (key, last)
  select key, coalesce(max(number), 0) from project left join issue on project_id = project.id group by key`;

const insertIssueLabels = `
  insert into issue_label (issue_id, label)
  select id, label from issue, unnest($1::text[]) as label where hashtext(id || label) % 12 = 0`;

const insertComments = `
  insert into comment (id, issue_id, author_id, body, created_at)
  select
    id || '-' || k, id, lower(($1::text[])[1 + (h / 72 + k * 5) % 12]), ($2::text[])[1 + (h / 864 + k * 3) % 8],
    least(created_at + k * interval '7 hours', now() - interval '1 hour')
  from (select id, created_at, hashtext(id) & 2147483647 as h from issue) as hashed, generate_series(1, 6) as k
  where h % 3 = 0 and k <= 1 + h / 3 % 6 * (h / 18 % 4) / 2`;

/** Ann, Ben and Cam have read most of what others have written. */
const insertSeen = `
  insert into seen (issue_id, person_id, at)
  select distinct issue_id, reader, now() from comment, unnest(array['ann', 'ben', 'cam']) as reader
  where hashtext(issue_id || reader) % 9 <> 0`;

/** Creates the tables and fills them with the demo's data, if they are empty. */
export async function prepare(client: ClientBase, issues: number): Promise<void> {
  await client.query(await readFile(new URL('../src/schema.sql', import.meta.url), 'utf8'));
  const { rowCount } = await client.query('select from project limit 1');
  if (rowCount !== 0) return;
  await client.query('begin');
  await client.query(insertPeople, [people]);
  await client.query(insertLabels, [labels]);
  await client.query(insertProjects, [teams, parts]);
  await client.query(insertMembers);
  await client.query(insertIssues, [issues, titles, things, descriptions, people]);
  await client.query(insertNumbers);
  await client.query(insertIssueLabels, [labels]);
  await client.query(insertComments, [people, remarks]);
  await client.query(insertSeen);
  await client.query('commit');
  await client.query('vacuum analyze');
}
