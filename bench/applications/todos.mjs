/**
 * The application that most scenarios measure: lists, shares and todos, as in the example. Applications are plain
 * JavaScript, so that they run without a loader.
 */
import { defineMutator, defineMutators, defineView, sql } from 'tidemark';

export { authenticate } from './authenticate.mjs';

/** @typedef {import('./authenticate.mjs').Context} Context */

/**
 * True for the lists that a user sees: their own and those shared with them.
 * @param {string} userID
 */
const isVisible = (userID) => sql`owner_id = ${userID} or id in (select list_id from share where user_id = ${userID})`;

export const views = {
  list: defineView({
    /** @type {(input: { ctx: Context }) => import('tidemark').SqlQuery<{ id: string }>} */
    query: ({ ctx }) => sql`select id, owner_id, name from list where ${isVisible(ctx.userID)}`,
    key: 'id',
  }),
  todo: defineView({
    /** @type {(input: { ctx: Context }) => import('tidemark').SqlQuery<{ id: string }>} */
    query: ({ ctx }) => sql`
      select id, list_id, title, done, sort, note, updated_at from todo where list_id in (select id from list where ${isVisible(ctx.userID)})`,
    key: 'id',
  }),
};

export const renameStatement = 'update todo set title = $2 where id = $1';

export const mutators = defineMutators({
  todo: {
    rename: defineMutator(
      /** @param {import('tidemark').MutatorCall<unknown, import('pg').ClientBase, Context>} call */
      async ({ tx, args }) => {
        const { id, title } = /** @type {{ id: string, title: string }} */ (args);
        await tx.query(renameStatement, [id, title]);
      },
    ),
  },
});
