/** The options with which an application configures its tenants. */
import type { ClientBase } from 'pg';
import type { UserContext } from '../context.js';
import type { Logger } from '../log.js';
import type { SyncOptions, WithTx } from '../sync-options.js';

/** The options of one tenant: those of `createSync`, except for those of the whole process. */
export interface TenantOptions<Context extends UserContext, Tx>
  extends Omit<SyncOptions<Context, Tx>, 'metrics' | 'log'> {
  /**
   * The prefix of its user IDs in Tidemark's records, which separates its users from those of other tenants in the same
   * database. It must not change. Default: the tenant's name and a slash. Use an empty prefix for a database that
   * `createSync` has served and that no other tenant uses. Its client groups then remain valid.
   */
  readonly userPrefix?: string | undefined;
}

/** The options that `open` returns for a tenant. */
export type TenantConfig<Context extends UserContext, Tx> = TenantOptions<Context, Tx> & WithTx<Tx>;

/** The options of `createTenants`. */
export interface TenantsOptions<Context extends UserContext = UserContext, Tx = ClientBase> {
  /**
   * Returns the name of the tenant that a request is for, or null for a 404 response. It must not read the body. A
   * Problem that it throws becomes the response.
   */
  readonly tenantOf: (request: Request) => string | null | Promise<string | null>;
  /**
   * Returns a tenant's options, or null if it does not exist. Called when the tenant is first used, and again after it
   * has been closed. A Problem that it throws becomes the response; after any other error, the tenant is unavailable.
   */
  readonly open: (
    tenant: string,
  ) => TenantConfig<Context, Tx> | null | undefined | Promise<TenantConfig<Context, Tx> | null | undefined>;
  /** Returns the names of all tenants, for `tidemark migrate --all`. Default: the command cannot run. */
  readonly list?: (() => Iterable<string> | AsyncIterable<string>) | undefined;
  /**
   * The maximum number of open tenants. To open another one, the least recently used idle tenant is closed. Default
   * 1,000.
   */
  readonly maxOpen?: number | undefined;
  /** How long an unused tenant stays open, in milliseconds. Default 300,000. */
  readonly idleMs?: number | undefined;
  /**
   * The maximum number of open database connections of all tenants together. One tenant can have ten of them. Your own
   * pools do not count. Default 100.
   */
  readonly connections?: number | undefined;
  /** `public` lets anyone read metrics of the whole process at `/metrics`, in Prometheus format. Default `off`. */
  readonly metrics?: 'public' | 'off' | undefined;
  /** The logger. Each line names the tenant that it is about. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}
