/** The server under test, as an application runs it: the built package, its default log (to nowhere). */
import pg from 'pg';
import { createSync, migrate } from 'tidemark';
import { listen, logFromEnvironment } from 'tidemark/node';
import { answerWithState } from './state.mjs';

const { DATABASE_URL: connectionString = '', STANDBY_URL, APPLICATION, CONNECTIONS } = process.env;
const application = await import(`../applications/${APPLICATION}.mjs`);
const log = logFromEnvironment();
await migrate({ database: connectionString, views: application.views });
const database = CONNECTIONS ? new pg.Pool({ connectionString, max: Number(CONNECTIONS) }) : connectionString;
const { views, mutators, authenticate } = application;
const sync = await createSync({
  database,
  views,
  mutators,
  authenticate,
  log,
  rates: { perUser: 1e9 },
  readDatabase: STANDBY_URL,
});
const { url } = await listen(sync, { port: 0, hostname: '127.0.0.1', log });
answerWithState();
process.send?.({ url });
