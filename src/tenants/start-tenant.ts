import type { UserContext } from '../context.js';
import type { BudgetedPool, ConnectionBudget } from '../db/connection-budget.js';
import { SetupError } from '../errors.js';
import { type Logger, withFields } from '../log.js';
import { type StartedSync, startSync } from '../server.js';
import type { SharedResources } from '../shared-resources.js';
import type { TenantConfig } from './options.js';
import type { Tenant } from './tenant.js';
import { defaultUserPrefix, UserNamespace } from './user-namespace.js';

/** The resources that all tenants of a process share. */
export interface TenantResources extends Pick<SharedResources, 'telemetry' | 'pollIntervalMs'> {
  readonly log: Logger;
  readonly connectionBudget: ConnectionBudget;
  /** Returns the budgets that contain a tenant's own budgets. */
  readonly parentBudgets: (tenant: string) => SharedResources['parentBudgets'];
}

/** The maximum time to start a tenant's sync, in milliseconds. */
const startTimeoutMs = 30_000;

/** The number of transactions in a tenant's change-log cache. A busy tenant's cache then takes about 1 MB. */
const defaultCacheSize = 10_000;

/**
 * Starts a tenant's sync. If that takes too long, because of a lock or the network, closes its connections and fails.
 */
export async function startTenant<Context extends UserContext, Tx>(
  tenant: Tenant<Context>,
  { userPrefix, ...options }: TenantConfig<Context, Tx>,
  shared: TenantResources,
): Promise<StartedSync<Context>> {
  const { telemetry, pollIntervalMs, log, connectionBudget, parentBudgets } = shared;
  const users = new UserNamespace<Context>(userPrefix ?? defaultUserPrefix(tenant.name));
  const pools: BudgetedPool[] = [];
  const createPool: ConnectionBudget['createPool'] = (config) => {
    const pool = connectionBudget.createPool(config);
    pools.push(pool);
    return pool;
  };
  let hasTimedOut = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    for (const pool of pools) pool.breakOff();
  }, startTimeoutMs);
  try {
    const sync = await startSync<Context, Tx>(
      { cachedTransactions: defaultCacheSize, ...users.wrapOptions(options), metrics: 'off' } as Parameters<
        typeof startSync<Context, Tx>
      >[0],
      {
        sharedResources: {
          telemetry,
          pollIntervalMs,
          log: withFields(log, { tenant: tenant.name }),
          connectionBudget: { createPool },
          parentBudgets: parentBudgets(tenant.name),
          onAnswered: () => tenant.end(),
        },
      },
    );
    return users.wrapSync(countRequests(sync, tenant));
  } catch (cause) {
    if (hasTimedOut) throw new SetupError(`Opening took more than ${startTimeoutMs / 1000} seconds.`, { cause });
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

/** Wraps a sync so that the tenant counts the requests that the sync begins to answer. */
function countRequests<Context extends UserContext>(
  sync: StartedSync<Context>,
  tenant: Tenant<Context>,
): StartedSync<Context> {
  const withBegin = <Args extends unknown[]>(answer: (...args: Args) => Promise<Response>) => {
    return (...args: Args) => {
      tenant.begin();
      return answer(...args);
    };
  };
  return {
    ...sync,
    fetch: withBegin(sync.fetch),
    pull: withBegin(sync.pull),
    push: withBegin(sync.push),
    poke: withBegin(sync.poke),
  };
}
