/** An issue tracker with a view for each class of queries. A client's schema version names the view that it gets. */
import { defineView } from 'tidemark';

export { authenticate } from './authenticate.mjs';

const mine = 'i.project_id in (select project_id from member where user_id = $1)';

/** @type {Readonly<Record<string, string>>} */
const queries = {
  plain: `select i.id, i.title, i.state from issue i where ${mine}`,
  assignee: `select i.id, i.title, p.name as assignee from issue i left join person p on p.id = i.assignee_id where ${mine}`,
  'assignee-subselect': `select i.id, i.title, (select p.name from person p where p.id = i.assignee_id) as assignee from issue i where ${mine}`,
  count: `select i.id, (select count(*) from comment c where c.issue_id = i.id) as comments from issue i where ${mine}`,
  'group-by': `select i.id, count(c.id) as comments, max(c.at) as latest from issue i left join comment c on c.issue_id = i.id
    where ${mine} group by i.id`,
  labels: `select i.id, (select json_agg(l.name order by l.name) from issue_label il join label l on l.id = il.label_id
    where il.issue_id = i.id) as labels from issue i where ${mine}`,
  unread: `select i.id, i.title from issue i where ${mine}
    and not exists (select from seen s where s.issue_id = i.id and s.user_id = $1)`,
  'not-in': `select i.id, i.title from issue i where ${mine} and i.id not in (select s.issue_id from seen s where s.user_id = $1)`,
  latest: `select i.id, c.body from issue i left join lateral (
    select c.body from comment c where c.issue_id = i.id order by c.at desc, c.id desc limit 1) c on true where ${mine}`,
  with: `with mine as (select * from issue i where ${mine}) select m.id, m.title, p.name from mine m left join person p on p.id = m.assignee_id`,
  // A user's own project is named after the user.
  top: 'select i.id, i.title from issue i where i.project_id = $1 order by i.created desc, i.id desc limit 50',
  'top-count': `select i.id, i.title, p.name as assignee, (select count(*) from comment c where c.issue_id = i.id) as comments
    from issue i left join person p on p.id = i.assignee_id where i.project_id = $1 order by i.created desc, i.id desc limit 50`,
  'row-number': `select x.id, x.title, x.place from (
    select i.id, i.title, i.state, row_number() over (partition by i.state order by i.id desc) as place from issue i where ${mine}
  ) x where x.place <= 20`,
  'by-state': `select i.state as id, count(*) as n from issue i where ${mine} group by i.state`,
};

export const views = Object.fromEntries(
  Object.entries(queries).map(([name, text]) => [
    name,
    defineView({
      /** @type {(input: { ctx: import('./authenticate.mjs').Context }) => import('tidemark').SqlQuery<{ id: number }>} */
      query: ({ ctx }) => ({ text, values: [ctx.userID] }),
      key: 'id',
      schemaVersions: [name],
    }),
  ]),
);
