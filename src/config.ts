import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import type { SyncOptions, WithTx } from './server.js';

/** What `tidemark.config.ts` exports as its default: all that the command line needs to know of an application. */
export interface Config<Context extends UserContext = UserContext, Tx = ClientBase>
  extends Omit<SyncOptions<Context, Tx>, 'database' | 'forward' | 'log'> {
  /**
   * Creates the application's tables in an embedded database, before each migration. It must do no harm when they are
   * there. Not called with `DATABASE_URL`: there, the application's own migrations come first.
   */
  readonly prepareEmbedded?: ((client: ClientBase) => Promise<unknown>) | undefined;
}

/** Types the default export of `tidemark.config.ts`; changes nothing about it. */
export function defineConfig<Context extends UserContext = UserContext, Tx = ClientBase>(
  config: Config<Context, Tx> & WithTx<Tx>,
): Config<Context, Tx> {
  return config;
}
