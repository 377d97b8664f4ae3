/** Starts the example: database, tables, demo data, server. */
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createSync, type Logger, migrate } from 'tidemark';
import {
  addressFromEnvironment,
  describeEmbedded,
  explainFailure,
  forwardFromEnvironment,
  listen,
  logFromEnvironment,
  type OpenedDatabase,
  openDatabase,
} from 'tidemark/node';
import { accounts } from './accounts.js';
import { info } from './api.js';
import { authenticate } from './auth.js';
import { mutators } from './mutators.js';
import { createSchema } from './schema.js';
import { seed } from './seed.js';
import { views } from './views.js';
import { serveWeb } from './web.js';

/** In the repository's root, regardless of the working directory. */
const directory = fileURLToPath(new URL('../../../.tidemark', import.meta.url));
/** The build puts the web application beside this file. */
const webDirectory = fileURLToPath(new URL('web', import.meta.url));

async function start(): Promise<void> {
  // Callers can claim any name, so others on the network are kept out unless HOST lets them in.
  const address = addressFromEnvironment('127.0.0.1');
  const log = logFromEnvironment('warn');
  const forward = forwardFromEnvironment();
  console.log('Tidemark example: tasks\n');
  const steps = printSteps(log);
  const database = await openDatabase({ directory, log: steps });
  try {
    await prepare(database, steps);
    const sync = await createSync({
      database: database.url,
      readDatabase: database.readURLs,
      views,
      mutators,
      authenticate,
      rest: { info },
      log,
      forward,
    });
    const close = async () => {
      await sync.close();
      await database.close();
    };
    try {
      const service = { ...sync, fetch: serveWeb(sync, webDirectory), close, lost: database.lost };
      const { url } = await listen(service, { log, ...address });
      console.log(banner(url, database));
    } catch (error) {
      await sync.close();
      throw error;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A logger that prints the start's messages, and passes on those that belong in a log. */
function printSteps(log: Logger): Logger {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (_, message) => console.log(`  ${message}`),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

async function prepare({ url }: OpenedDatabase, log: Logger): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await createSchema(client);
    await migrate({ database: url, views, log });
    if (await seed(client)) console.log('  adding the demo data');
  } finally {
    await client.end();
  }
}

function banner(url: string, database: OpenedDatabase): string {
  const where = database.embedded
    ? `${describeEmbedded(database, process.stdout.isTTY)}\n            (psql or a GUI can read and write it)`
    : 'DATABASE_URL';
  return `
  Ready     ${url}
            ${url}/side-by-side shows two accounts in one window
  Pull      POST ${url}/sync/pull
  Push      POST ${url}/sync/push
  REST      POST ${url}/api/mutators/todo/create
  Docs      ${url}/api/docs
  Health    GET  ${url}/healthz, ${url}/readyz
  Database  ${where}
  Accounts  ${accounts.join(', ')}, as Authorization: Bearer ${accounts[0]}  (demo only: nobody checks who you are)

Stop with Ctrl-C.`;
}

start().catch((error: unknown) => {
  console.error(explainFailure(error));
  process.exitCode = 1;
});
