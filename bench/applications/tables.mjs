/** VIEWS views, each of a table of its own. */
import { defineView } from 'tidemark';

export { authenticate } from './authenticate.mjs';

/** @param {number} n */
const viewOf = (n) =>
  defineView({
    /** @type {(input: { ctx: import('./authenticate.mjs').Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => ({ text: `select id, title from item${n} where owner_id = $1`, values: [ctx.userID] }),
    key: 'id',
  });

export const views = Object.fromEntries(
  Array.from({ length: Number(process.env.VIEWS) }, (_, i) => [`item${i + 1}`, viewOf(i + 1)]),
);
