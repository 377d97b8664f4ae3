/** A process with the server under test, its pool as large as that of `rest-limits.mjs`. */
import pg from 'pg';
import { pino } from 'pino';
import { createSync, migrate } from 'tidemark';
import { listen } from 'tidemark/node';
import { authenticate, mutators, views } from './application.mjs';

const connectionString = /** @type {string} */ (process.env.DATABASE_URL);
const database = new pg.Pool({ connectionString, max: 16 });
const log = pino({ name: 'bench' });
await migrate({ database: connectionString, views });
const sync = await createSync({ database, views, mutators, authenticate, log });
const { url } = await listen(sync, { port: 0, hostname: '127.0.0.1', log });
process.send?.({ url });
process.on('disconnect', () => process.exit(0));
