import type { UserContext } from '../context.js';
import type { BudgetedPool, ConnectionBudget } from '../db/connection-budget.js';
import { Problem, SetupError } from '../errors.js';
import type { Admission } from '../limits/admission.js';
import { startDeadline } from '../limits/deadline.js';
import { type Logger, withFields } from '../log.js';
import { type StartedSync, startSync } from '../server.js';
import type { SharedResources } from '../shared-resources.js';
import type { TenantConfig, TenantsOptions } from './options.js';
import type { Tenant } from './tenant.js';
import { defaultUserPrefix, UserNamespace } from './user-namespace.js';

/** The resources that all tenants of a process share. */
export interface TenantResources extends Pick<SharedResources, 'telemetry' | 'pollPacer'> {
  readonly log: Logger;
  readonly connectionBudget: ConnectionBudget;
  /** The admission of all tenants together. */
  readonly admission: Admission;
}

/** Milliseconds that the application's `open` has to return a tenant's options. */
const openTimeoutMs = 30_000;

/** The maximum time to start a tenant's sync, in milliseconds. */
const startTimeoutMs = 30_000;

/** The number of transactions in a tenant's change-log cache. A busy tenant's cache then takes about 1 MB. */
const defaultCacheSize = 10_000;

/**
 * Returns the options of a tenant.
 * @throws Problem `not-found` if there is no such tenant; Error if `open` takes too long; and whatever `open` throws
 */
export async function openConfig<Context extends UserContext, Tx>(
  options: Pick<TenantsOptions<Context, Tx>, 'open'>,
  tenant: string,
): Promise<TenantConfig<Context, Tx>> {
  const createError = () => new Error(`The option \`open\` has not returned after ${openTimeoutMs / 1000} seconds`);
  const { within, end } = startDeadline(openTimeoutMs, createError);
  const config = await within((async () => options.open(tenant))()).finally(end);
  if (!config) throw new Problem('not-found', 'There is no such tenant');
  return config;
}

/**
 * Starts a tenant's sync. If that takes too long, because of a lock or the network, closes its connections and fails.
 */
export async function startTenant<Context extends UserContext, Tx>(
  tenant: Tenant<Context>,
  { userPrefix, ...options }: TenantConfig<Context, Tx>,
  shared: TenantResources,
): Promise<StartedSync<Context>> {
  const { telemetry, pollPacer, log, connectionBudget, admission } = shared;
  const { name: consumer } = tenant;
  const users = new UserNamespace<Context>(userPrefix ?? defaultUserPrefix(consumer));
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
          pollPacer,
          log: withFields(log, { tenant: consumer }),
          connectionBudget: { createPool },
          parentAdmission: { admission, consumer },
          requestTracker: tenant,
        },
      },
    );
    return users.wrapSync(sync);
  } catch (cause) {
    if (hasTimedOut) throw new SetupError(`Opening took more than ${startTimeoutMs / 1000} seconds.`, { cause });
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}
