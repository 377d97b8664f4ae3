/** The example application, served over real HTTP from a fresh database. */
import type pg from 'pg';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { listen } from '../../../packages/tidemark/src/node.js';
import type { Mutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { createEmptyDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';

export interface ServerOptions
  extends Partial<Omit<SyncOptions<UserContext, pg.ClientBase>, 'database' | 'log' | 'mutators'>> {
  readonly mutators?: Mutators<pg.ClientBase, UserContext>;
  /** SQL to run before the migration. */
  readonly setup?: string;
}

export interface TestServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** A pool to inspect the database and to write to it. */
  readonly pool: pg.Pool;
  /** The lines logged so far. */
  readonly lines: LogLine[];
  /** Stops the server but keeps the database. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(options?: ServerOptions): Promise<void>;
  /** Stops the server and drops the database. */
  close(): Promise<void>;
}

export async function startServer(initial: ServerOptions = {}): Promise<TestServer> {
  const database = await createEmptyDatabase();
  await createSchema(database.pool);
  if (initial.setup) await database.pool.query(initial.setup);
  await migrate({ database: database.url, views: initial.views ?? views, log: silent });
  const { log, lines } = memoryLog();
  const serve = async (port: number, { setup: _, ...options }: ServerOptions) => {
    const sync = await createSync({ database: database.url, views, mutators, authenticate, log, ...options });
    return listen(sync, { log, port, hostname: '127.0.0.1', signals: false, drainMs: 2_000 });
  };
  let listening = await serve(0, initial);
  const { url } = listening;
  return {
    url,
    pool: database.pool,
    lines,
    stop: () => listening.close(),
    async start(options = initial) {
      listening = await serve(Number(new URL(url).port), options);
    },
    async close() {
      await listening.close();
      await database.drop();
    },
  };
}
