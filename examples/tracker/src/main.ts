/** Starts the example: database, tables, demo data, server. */
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createSync, migrate, type UserContext } from 'tidemark';
import {
  addressFromEnvironment,
  describeEmbedded,
  explainFailure,
  listen,
  logFromEnvironment,
  openDatabase,
} from 'tidemark/node';
import { mutators } from './mutators.js';
import { prepare } from './seed.js';
import { views } from './views.js';
import { serveWeb } from './web.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** DEMO ONLY: trusts whatever name a caller gives, as the page does with the name in its address. */
function authenticate(request: Request): UserContext | null {
  const name = /^Bearer ([a-z]+)$/.exec(request.headers.get('Authorization') ?? '')?.[1];
  return name ? { userID: name } : null;
}

async function start(): Promise<void> {
  const log = logFromEnvironment('warn');
  const issues = Number(process.env.TRACKER_ISSUES ?? 100_000);
  console.log(`Tidemark example: issue tracker

The first start writes ${issues.toLocaleString('en')} issues, which takes some seconds.
`);
  const database = await openDatabase({ directory: path('../.tidemark'), log });
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  await prepare(connection, issues);
  await connection.end();
  await migrate({ database: database.url, views, log });
  const sync = await createSync({ database: database.url, views, mutators, authenticate, log });
  const service = {
    ...sync,
    fetch: await serveWeb(sync, path('.')),
    lost: database.lost,
    async close() {
      await sync.close();
      await database.close();
    },
  };
  // Callers can claim any name, so others on the network are kept out unless HOST lets them in.
  const { url } = await listen(service, { log, ...addressFromEnvironment('127.0.0.1') });
  console.log(`  Ready     ${url}
  Database  ${database.embedded ? describeEmbedded(database, process.stdout.isTTY) : 'DATABASE_URL'}
  Accounts  ${url}/ann  ${url}/ben  ${url}/cam

Stop with Ctrl-C.`);
}

start().catch((error: unknown) => {
  console.error(explainFailure(error));
  process.exit(1);
});
