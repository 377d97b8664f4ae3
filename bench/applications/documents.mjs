/** Documents that belong to tenants, of which users are members. */
import { defineView, sql } from 'tidemark';

export { authenticate } from './authenticate.mjs';

export const views = {
  doc: defineView({
    /** @type {(input: { ctx: import('./authenticate.mjs').Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => sql`
      select id, tenant_id, title from doc where tenant_id in (select tenant_id from member where user_id = ${ctx.userID})`,
    key: 'id',
  }),
};
