/** Starts the example: database, tables, demo data, server. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
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
import { views } from './views.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** DEMO ONLY: trusts whatever name a caller gives. */
function authenticate(request: Request): UserContext | null {
  const name = /^Bearer ([a-z]+)$/.exec(request.headers.get('Authorization') ?? '')?.[1];
  return name ? { userID: name } : null;
}

async function start(): Promise<void> {
  const log = logFromEnvironment('warn');
  const database = await openDatabase({ directory: path('../.tidemark'), log });
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  await connection.query(await readFile(path('../src/schema.sql'), 'utf8'));
  await connection.end();
  await migrate({ database: database.url, views, log });
  const sync = await createSync({ database: database.url, views, mutators, authenticate, log });

  const app = new Hono();
  app.all('/sync/*', (c) => sync.fetch(c.req.raw, c.env));
  app.use('/*', serveStatic({ root: path('web') }));
  const service = {
    ...sync,
    fetch: (request: Request, env?: unknown) => app.fetch(request, env as object),
    lost: database.lost,
    async close() {
      await sync.close();
      await database.close();
    },
  };
  // Callers can claim any name, so others on the network are kept out unless HOST lets them in.
  const { url } = await listen(service, { log, ...addressFromEnvironment('127.0.0.1') });
  console.log(`Tidemark example: TanStack DB

  Ready     ${url}
  Database  ${database.embedded ? describeEmbedded(database, process.stdout.isTTY) : 'DATABASE_URL'}

Stop with Ctrl-C.`);
}

start().catch((error: unknown) => {
  console.error(explainFailure(error));
  process.exit(1);
});
