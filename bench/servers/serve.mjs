/**
 * A process with the server under test, as an application would run it: the built package, its default log (to
 * nowhere). On any message it answers what it takes of the machine.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { createSync, migrate } from 'tidemark';
import { listen, logFromEnvironment } from 'tidemark/node';

const { DATABASE_URL: connectionString = '', APPLICATION, CONNECTIONS } = process.env;
const application = await import(`../applications/${APPLICATION}.mjs`);
const log = logFromEnvironment();
await migrate({ database: connectionString, views: application.views });
const database = CONNECTIONS ? new pg.Pool({ connectionString, max: Number(CONNECTIONS) }) : connectionString;
const { views, mutators, authenticate } = application;
const sync = await createSync({ database, views, mutators, authenticate, log });
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
