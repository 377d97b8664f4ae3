/** `npm start`: serves the pages that `npm run build` has made, and their data. */
import { fileURLToPath } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import { addressFromEnvironment, explainFailure, listen, logFromEnvironment, openDatabase } from 'tidemark/node';
import { openService } from './service.ts';

const pages = serveStatic({
  root: fileURLToPath(new URL('../client', import.meta.url)),
  // The names of assets contain a hash of their content.
  onFound: (path, c) =>
    c.header('Cache-Control', path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
});

async function start(): Promise<void> {
  const log = logFromEnvironment();
  // Only for this machine, as long as `authenticate` believes everyone. HOST=0.0.0.0 opens it to others.
  const address = addressFromEnvironment('127.0.0.1');
  const database = await openDatabase({ log });
  try {
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
