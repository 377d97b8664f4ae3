// `npm run dev`: Vite and the server in one process, on one port. The server starts anew when its code has changed.
import { fileURLToPath } from 'node:url';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { addressFromEnvironment, explainFailure, listen, logFromEnvironment, openDatabase } from 'tidemark/node';
import { createServer } from 'vite';

const serverFolder = fileURLToPath(new URL('server', import.meta.url));
const log = logFromEnvironment('warn');

try {
  const address = addressFromEnvironment('127.0.0.1');
  const database = await openDatabase({ log });
  await serve(database, address).catch((error) => database.close().finally(() => Promise.reject(error)));
} catch (error) {
  console.error(explainFailure(error));
  process.exit(1);
}

async function serve(database, address) {
  let service = Promise.resolve(unavailable('The server is starting.'));
  const { server, url } = await listen(
    {
      fetch: async (request, env) => (await service).fetch(request, env),
      drain: () => service.then((running) => running.drain()),
      async close() {
        await vite.close();
        await (await service).close();
        await database.close();
      },
      lost: database.lost,
    },
    { log, drainDelayMs: 0, ...address },
  );
  const vite = await createServer({ server: { middlewareMode: true, ws: { server } } });
  const pages = ({ env }) => {
    vite.middlewares(env.incoming, env.outgoing);
    return RESPONSE_ALREADY_SENT;
  };
  const start = async () => {
    try {
      const { openService } = await vite.ssrLoadModule('/server/service.ts');
      return await openService(database, log, pages);
    } catch (error) {
      vite.ssrFixStacktrace(error);
      console.error(explainFailure(error));
      return unavailable(explainFailure(error));
    }
  };
  service = start();
  vite.watcher.on('change', (path) => {
    if (path.startsWith(serverFolder)) service = service.then((running) => running.close()).then(start);
  });
  await service;
  console.log(`\n  ${url}\n\n  Stop with Ctrl-C.`);
}

/** What answers while the server does not run. */
function unavailable(reason) {
  return { fetch: () => new Response(reason, { status: 503 }), drain() {}, async close() {} };
}
