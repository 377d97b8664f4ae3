/** Serves mutators, one of which hangs and one is slow, on the database of DATABASE_URL, until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSync, defineMutator, defineMutators } from '../../../packages/tidemark/src/index.js';
import { type ListenOptions, listen, logFromEnvironment } from '../../../packages/tidemark/src/node.js';

const options = JSON.parse(process.argv[2]!) as Partial<ListenOptions>;
const log = logFromEnvironment();
const sync = await createSync({
  database: process.env.DATABASE_URL!,
  views: {},
  mutators: defineMutators({
    hang: defineMutator(() => new Promise(() => {})),
    slow: defineMutator(() => sleep(20)),
  }),
  timeouts: { transactionMs: 600_000 },
  authenticate: () => ({ userID: 'ann' }),
  log,
});
await listen(sync, { log, port: 0, hostname: '127.0.0.1', ...options });
