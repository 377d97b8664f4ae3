/** What an application says about its tenants. */
import type { ClientBase } from 'pg';
import type { UserContext } from '../context.js';
import type { Logger } from '../log.js';
import type { SyncOptions, WithTx } from '../sync-options.js';

/** The options of one tenant: those of `createSync`, but for what is the process's. */
export interface TenantOptions<Context extends UserContext, Tx>
  extends Omit<SyncOptions<Context, Tx>, 'metrics' | 'log'> {
  /**
   * What stands before the IDs of its users in Tidemark's records, so that no other tenant of the same database has such
   * users. It must not change. Default: the tenant's name and a slash. Empty for a database that has been served by
   * `createSync` and that no other tenant has: its client groups remain what they are.
   */
  readonly userPrefix?: string | undefined;
}

/** What `open` returns for a tenant. */
export type OpenedTenant<Context extends UserContext, Tx> = TenantOptions<Context, Tx> & WithTx<Tx>;

/** The options of `createTenants`. */
export interface TenantsOptions<Context extends UserContext = UserContext, Tx = ClientBase> {
  /**
   * Returns the name of the tenant that a request is for, or null for a 404 response. It must not read the body. If it
   * throws a Problem, that is the response.
   */
  readonly tenantOf: (request: Request) => string | null | Promise<string | null>;
  /**
   * Returns a tenant's options, or null if there is no such tenant. Called when the tenant is first used, and again after
   * it has been closed. If it throws a Problem, that is the response; if anything else, the tenant is unavailable.
   */
  readonly open: (
    tenant: string,
  ) => OpenedTenant<Context, Tx> | null | undefined | Promise<OpenedTenant<Context, Tx> | null | undefined>;
  /** Returns the names of all tenants, for `tidemark migrate --all`. Default: it cannot be run. */
  readonly list?: (() => Iterable<string> | AsyncIterable<string>) | undefined;
  /**
   * The most tenants that are open at once. To make room for another, the one is closed that has not been used for
   * longest. Default 1,000.
   */
  readonly mostOpen?: number | undefined;
  /** How long a tenant remains open that nobody uses, in milliseconds. Default 300,000. */
  readonly idleMs?: number | undefined;
  /**
   * The most connections to databases that are open at once, of all tenants together; of one tenant, ten. Pools of your
   * own do not count among them. Default 100.
   */
  readonly connections?: number | undefined;
  /** Whether anyone may read metrics of the whole process at `/metrics`, in Prometheus's format. Default `off`. */
  readonly metrics?: 'public' | 'off' | undefined;
  /** Where log lines go; each says which tenant it is about. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}
