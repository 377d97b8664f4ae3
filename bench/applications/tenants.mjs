/** Notes with a tenant column. A tenant's user has the tenant's name, and sees its notes. */
import { defineView, sql } from 'tidemark';

export { authenticate } from './authenticate.mjs';

export const views = {
  note: defineView({
    /** @type {(input: { ctx: import('./authenticate.mjs').Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => sql`select id, tenant_id, body from note where tenant_id = ${ctx.userID}`,
    key: 'id',
  }),
};
