/** Users' notes. Each tenant has a database with them. */
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';

export { authenticate } from './authenticate.mjs';

export const views = {
  note: defineView({
    /** @type {(input: { ctx: import('./authenticate.mjs').Context }) => import('tidemark').SqlQuery<{ id: string }>} */
    query: ({ ctx }) => sql`select id, body from note where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

const create = defineMutator(async ({ tx, args, ctx }) => {
  const { id, body } = /** @type {{ id: string, body: string }} */ (args);
  await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [id, ctx.userID, body]);
});

export const mutators = defineMutators({ note: { create } });
