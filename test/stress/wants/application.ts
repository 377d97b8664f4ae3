/** An application whose views have arguments, one for each way in which changes of a view are found. */
import type pg from 'pg';
import { z } from 'zod';
import { defineView, sql } from '../../../packages/tidemark/src/index.js';

interface Row {
  readonly id: string;
}

const inProject = z.object({ projectID: z.string() });

export const views = {
  /** Has no arguments, so every client has all of it. */
  project: defineView({
    query: ({ ctx }) => sql<Row>`
      select id, name from project where id in (select project_id from member where user_id = ${ctx.userID})`,
    key: 'id',
  }),
  issue: defineView({
    args: inProject,
    query: ({ ctx, args }) => sql<Row>`
      select i.id, i.project_id, i.title, i.state from issue i join member m on m.project_id = i.project_id
      where i.project_id = ${args.projectID} and m.user_id = ${ctx.userID}`,
    key: 'id',
  }),
  /** Instances overlap. */
  slice: defineView({
    args: z.object({ from: z.number().int(), to: z.number().int().default(5) }),
    query: ({ args }) => sql<Row>`select id, sort, title from issue where sort between ${args.from} and ${args.to}`,
    key: 'id',
  }),
  /** Instances overlap, and a parameter is an array. */
  chosen: defineView({
    args: z.object({ ids: z.array(z.string()) }),
    query: ({ ctx, args }) => sql<Row>`
      select id, state, assignee from issue where id = any(${args.ids}) and (assignee = ${ctx.userID} or state = 'open')`,
    key: 'id',
    prefix: ({ ctx }) => `chosen/${ctx.userID}/`,
  }),
  assigned: defineView({
    args: inProject,
    query: ({ args }) => sql<Row>`
      select i.id, i.title, p.name from issue i left join project p on p.id = i.assignee where i.project_id = ${args.projectID}`,
    key: 'id',
  }),
  counted: defineView({
    args: inProject,
    query: ({ args }) => sql<Row>`
      with mine as (select * from issue where project_id = ${args.projectID})
      select m.id, (select count(*) from comment c where c.issue_id = m.id) as comments from mine m`,
    key: 'id',
    priority: 1,
  }),
  unread: defineView({
    args: z.object({ projectID: z.string(), body: z.string().nullable() }),
    query: ({ args }) => sql<Row>`
      select id from issue i where project_id = ${args.projectID}
        and not exists (select from comment c where c.issue_id = i.id and c.body is not distinct from ${args.body})`,
    key: 'id',
    priority: 2,
  }),
  /** Compared as a whole. */
  top: defineView({
    args: inProject,
    query: ({ args }) => sql<Row>`
      select id, sort from issue where project_id = ${args.projectID} order by sort desc, id limit 3`,
    key: 'id',
  }),
};

export type ViewName = keyof typeof views;

export const projects = ['p1', 'p2', 'p3', 'p4'] as const;
export const users = ['ann', 'bob', 'eve'] as const;
export const issues: readonly string[] = Array.from({ length: 24 }, (_, i) => `i${i + 1}`);

export async function createTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table project (id text primary key, name text not null);
    create table member (project_id text, user_id text, primary key (project_id, user_id));
    create table issue (
      id text primary key, project_id text not null, title text not null, state text not null, assignee text, sort integer not null);
    create index on issue (project_id);
    create table comment (id text primary key, issue_id text not null, body text);
    create index on comment (issue_id);
    insert into project select 'p' || n, 'Project ' || n from generate_series(1, 4) n;
    insert into member select 'p' || n, u from generate_series(1, 3) n, unnest(array['ann', 'bob']) u;`);
}
