/**
 * Issues in projects. Clients of the schema version `wants` want some projects; clients of the version `plain` have the
 * projects of which they are members.
 */
import { defineView, sql } from 'tidemark';
import { z } from 'zod';

export { authenticate } from './authenticate.mjs';

/** @typedef {import('./authenticate.mjs').Context} Context */

export const mutators = undefined;

export const views = {
  issue: defineView({
    args: z.object({ project: z.int() }),
    /** @type {(input: { ctx: Context, args: { project: number } }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx, args }) => sql`
      select i.id, i.project, i.title from issue i join member m on m.project = i.project
      where i.project = ${args.project} and m.user_id = ${ctx.userID}`,
    key: 'id',
    schemaVersions: ['wants'],
  }),
  member_issue: defineView({
    /** @type {(input: { ctx: Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => sql`
      select i.id, i.project, i.title from issue i join member m on m.project = i.project where m.user_id = ${ctx.userID}`,
    key: 'id',
    schemaVersions: ['plain'],
  }),
};
