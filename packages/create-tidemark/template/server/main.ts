/** `npm start`: serves the pages that `npm run build` has made, and their data. */
import { fileURLToPath } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import { addressFromEnvironment, explainFailure, listen, logFromEnvironment, openDatabase } from 'tidemark/node';
import { openService, prepareDatabase } from './service.ts';

const pages = serveStatic({
  root: fileURLToPath(new URL('../client', import.meta.url)),
  // The client's routes, such as /list/7, are not files. All of them serve the same page. A missing file stays 404.
  rewriteRequestPath: (path, c) => (isRoute(path) && c.req.header('Accept')?.includes('text/html') ? '/' : path),
  // The names of assets contain a hash of their content.
  onFound: (path, c) =>
    c.header('Cache-Control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
});

/** True if the path has no extension. */
function isRoute(path: string): boolean {
  return !/\.[^/]*$/.test(path);
}

async function start(): Promise<void> {
  const log = logFromEnvironment();
  // Only for this machine, as long as `authenticate` trusts everyone. HOST=0.0.0.0 opens it to others.
  const address = addressFromEnvironment('127.0.0.1');
  const database = await openDatabase({ log });
  try {
    // If you run your own Postgres, a job with more rights prepares it. See README.md.
    if (database.embedded) await prepareDatabase(database, log);
    const service = await openService(database, log, pages);
    const close = () => service.close().then(database.close);
    await listen({ ...service, close, lost: database.lost }, { log, ...address });
  } catch (error) {
    await database.close();
    throw error;
  }
}

start().catch((error) => {
  console.error(explainFailure(error));
  process.exit(1);
});
