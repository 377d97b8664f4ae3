/**
 * A process with a server of documents that belong to tenants. On any message it answers what it takes of the machine.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { createSync, defineView, migrate, sql } from 'tidemark';
import { listen } from 'tidemark/node';
import { authenticate } from './application.mjs';

const database = /** @type {string} */ (process.env.DATABASE_URL);
const log = pino({ name: 'bench' });
const views = {
  doc: defineView({
    /** @type {(input: { ctx: import('./application.mjs').Context }) => import('tidemark').SqlQuery<{ id: number }>} */
    query: ({ ctx }) => sql`
      select id, tenant_id, title from doc where tenant_id in (select tenant_id from member where user_id = ${ctx.userID})`,
    key: 'id',
  }),
};
await migrate({ database, views });
const sync = await createSync({ database, views, authenticate, log });
const { url } = await listen(sync, { port: 0, hostname: '127.0.0.1', log });
process.send?.({ url });
process.on('disconnect', () => process.exit(0));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
process.on('message', () => {
  collectGarbage();
  const { user, system } = process.cpuUsage();
  const sockets = process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rssMB: rss / 2 ** 20, heapMB: heapUsed / 2 ** 20, cpuMs: (user + system) / 1000, sockets });
});
