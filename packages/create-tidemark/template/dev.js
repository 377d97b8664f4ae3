// `npm run dev`: Vite and the server in one process, on one port. The server restarts when its code changes.
import { fileURLToPath } from 'node:url';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import {
  addressFromEnvironment,
  describeEmbedded,
  explainFailure,
  listen,
  logFromEnvironment,
  openDatabase,
} from 'tidemark/node';
import { createServer } from 'vite';

const serverFolder = fileURLToPath(new URL('server', import.meta.url));

async function start() {
  const log = logFromEnvironment('warn');
  const address = addressFromEnvironment('127.0.0.1');
  const steps = printSteps(log);
  console.log(
    `\n  Starting ${process.env.DATABASE_URL ? 'with the Postgres of DATABASE_URL' : 'the embedded Postgres'}`,
  );
  const database = await openDatabase({ log: steps });
  let service = Promise.resolve(unavailable('The server is starting.'));
  const close = () => service.then((running) => running.close()).finally(database.close);
  try {
    const { server, url } = await listen(
      {
        fetch: async (request, env) => (await service).fetch(request, env),
        drain: () => void service.then((running) => running.drain()),
        close,
        lost: database.lost,
      },
      { log, drainDelayMs: 0, drainMs: 500, ...address },
    );
    const vite = await createServer({ server: { middlewareMode: true, ws: { server } } });
    /** @type {import('hono').Handler} */
    const pages = ({ env }) => {
      vite.middlewares(env.incoming, env.outgoing);
      return RESPONSE_ALREADY_SENT;
    };
    const open = async () => {
      try {
        vite.environments.ssr.moduleGraph.invalidateAll();
        const { openService, prepareDatabase } = await vite.ssrLoadModule('/server/service.ts');
        await prepareDatabase(database, steps);
        return await openService(database, log, pages);
      } catch (error) {
        const reason = explainFailure(error);
        console.error(reason);
        return unavailable(reason);
      }
    };
    service = open();
    /** @type {NodeJS.Timeout | undefined} */
    let saved;
    vite.watcher.on('all', (_event, path) => {
      if (!path.startsWith(serverFolder)) return;
      clearTimeout(saved);
      saved = setTimeout(() => {
        service = service.then((running) => running.close()).then(open);
      }, 100);
    });
    await service;
    console.log(`
  Ready     ${url}
  Database  ${database.embedded ? describeEmbedded(database, process.stdout.isTTY) : 'DATABASE_URL'}

Edit client/ and server/, and the page follows. Beside this, npx tidemark status and npx tidemark doctor say how the
database and the views are. Stop with Ctrl-C.`);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A logger that prints each step of the start, and passes on warnings and errors.
 *
 * @param {import('tidemark').Logger} log
 * @returns {import('tidemark').Logger}
 */
function printSteps(log) {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (_fields, message) => console.log(`  ${message}`),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

/**
 * Responds while the server cannot.
 *
 * @param {string} reason
 */
function unavailable(reason) {
  return {
    fetch: (/** @type {Request} */ _request, /** @type {unknown} */ _env) => new Response(reason, { status: 503 }),
    drain() {},
    async close() {},
  };
}

start().catch((error) => {
  console.error(explainFailure(error));
  process.exit(1);
});
