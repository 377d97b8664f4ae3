import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import type { SyncOptions, WithTx } from './sync-options.js';

/** The default export of `tidemark.config.ts`: everything that the command line needs from an application. */
export interface Config<Context extends UserContext = UserContext, Tx = ClientBase>
  extends Omit<SyncOptions<Context, Tx>, 'database' | 'forward' | 'log'> {
  /**
   * Creates the application's tables in an embedded database, before each migration. Must work if they already exist.
   * Not called if `DATABASE_URL` is set: run the application's own migrations there first. Default: none.
   */
  readonly prepareEmbedded?: ((client: ClientBase) => Promise<unknown>) | undefined;
}

/** Types the default export of `tidemark.config.ts`. Returns its argument unchanged. */
export function defineConfig<Context extends UserContext = UserContext, Tx = ClientBase>(
  config: Config<Context, Tx> & WithTx<Tx>,
): Config<Context, Tx> {
  return config;
}
