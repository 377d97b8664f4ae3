/**
 * Documents of teams. The user `t3.u7` is the eighth member of the fourth team. Each user's view has its own parameter,
 * as in applications that look up membership in a table.
 */
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';

export { authenticate } from './authenticate.mjs';

/** @typedef {import('./authenticate.mjs').Context} Context */

export const views = {
  doc: defineView({
    /** @type {(input: { ctx: Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => sql`
      select id, team_id, title, body from doc where team_id in (select team_id from member where user_id = ${ctx.userID})`,
    key: 'id',
  }),
};

export const mutators = defineMutators({
  doc: {
    rename: defineMutator(
      /** @param {import('tidemark').MutatorCall<unknown, import('pg').ClientBase, Context>} call */
      async ({ tx, args }) => {
        const { id, title } = /** @type {{ id: number, title: string }} */ (args);
        await tx.query('update doc set title = $2 where id = $1', [id, title]);
      },
    ),
  },
});
