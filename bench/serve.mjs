/**
 * A process with the server under test, as an application would run it: the built package, its default log (to
 * nowhere).
 */

import { pino } from 'pino';
import { createSync, migrate } from 'tidemark';
import { listen } from 'tidemark/node';
import { authenticate, mutators, views } from './application.mjs';

const database = /** @type {string} */ (process.env.DATABASE_URL);
const log = pino({ name: 'bench' });
await migrate({ database, views });
const sync = await createSync({ database, views, mutators, authenticate, log });
const { url } = await listen(sync, { port: 0, hostname: '127.0.0.1', log });
process.send?.({ url });
process.on('disconnect', () => process.exit(0));
