import { defineView, sql } from 'tidemark';
import { z } from 'zod';
import type { Priority, Status } from './fields.js';

// Types, not interfaces: the client's types accept only these as JSON.
export type Project = {
  readonly id: string;
  readonly team: string;
  readonly key: string;
  readonly name: string;
  readonly hue: number;
  readonly issues: number;
  readonly open: number;
};

export type Person = { readonly id: string; readonly name: string; readonly hue: number };

export type Label = { readonly name: string; readonly hue: number };

export type Issue = {
  readonly id: string;
  readonly projectID: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly status: Status;
  readonly priority: Priority;
  readonly assigneeID: string | null;
  readonly assignee: string | null;
  readonly assigneeHue: number | null;
  readonly labels: readonly Label[];
  readonly comments: number;
  readonly unread: boolean;
  readonly createdAt: string;
};

export type Comment = {
  readonly id: string;
  readonly issueID: string;
  readonly body: string;
  readonly author: string;
  readonly hue: number;
  readonly createdAt: string;
};

/** The user's projects. They come in the first stage, with the issues of the opened project. */
const project = defineView({
  query: ({ ctx }) => sql<Project>`
    select p.id, p.team, p.key, p.name, p.hue,
      (select count(*)::integer from issue i where i.project_id = p.id) as issues,
      (select count(*)::integer from issue i where i.project_id = p.id and i.status not in ('done', 'canceled')) as open
    from project p
    join member m on m.project_id = p.id
    where m.person_id = ${ctx.userID}`,
  key: 'id',
});

/** Everyone an issue can be assigned to. Needed only for menus, so in the second stage. */
const person = defineView({
  query: () => sql<Person>`select id, name, hue from person`,
  key: 'id',
  priority: 1,
});

/** The issues of one project. An issue is unread if others have commented on it since the user has read it. */
const issue = defineView({
  args: z.object({ projectID: z.string() }),
  query: ({ ctx, args }) => sql<Issue>`
    select i.id, i.project_id as "projectID", i.number, i.title, i.description, i.status, i.priority,
      i.assignee_id as "assigneeID", a.name as assignee, a.hue as "assigneeHue", i.created_at as "createdAt",
      (select coalesce(json_agg(json_build_object('name', l.name, 'hue', l.hue) order by l.name), '[]')
        from issue_label il join label l on l.name = il.label where il.issue_id = i.id) as labels,
      (select count(*)::integer from comment c where c.issue_id = i.id) as comments,
      exists (
        select from comment c where c.issue_id = i.id and c.author_id <> ${ctx.userID} and not exists (
          select from seen s where s.issue_id = c.issue_id and s.person_id = ${ctx.userID} and s.at >= c.created_at
        )
      ) as unread
    from issue i
    join member m on m.project_id = i.project_id
    left join person a on a.id = i.assignee_id
    where i.project_id = ${args.projectID} and m.person_id = ${ctx.userID}`,
  key: 'id',
  timestamps: 'UTC',
});

/** The comments on one issue. */
const comment = defineView({
  args: z.object({ issueID: z.string() }),
  query: ({ ctx, args }) => sql<Comment>`
    select c.id, c.issue_id as "issueID", c.body, p.name as author, p.hue, c.created_at as "createdAt"
    from comment c
    join person p on p.id = c.author_id
    join issue i on i.id = c.issue_id
    join member m on m.project_id = i.project_id
    where c.issue_id = ${args.issueID} and m.person_id = ${ctx.userID}`,
  key: 'id',
  timestamps: 'UTC',
  priority: 1,
});

export const views = { project, person, issue, comment };
