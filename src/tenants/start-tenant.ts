import type { UserContext } from '../context.js';
import type { ConnectionStock, StockedPool } from '../db/connection-stock.js';
import { SetupError } from '../errors.js';
import { type Logger, withFields } from '../log.js';
import { type StartedSync, startSync } from '../server.js';
import type { Surroundings } from '../surroundings.js';
import type { OpenedTenant } from './options.js';
import { OwnUsers, usualPrefix } from './own-users.js';
import type { Tenant } from './tenant.js';

/** What all tenants of a process share. */
export interface Shared extends Pick<Surroundings, 'telemetry' | 'lookIntervalMs'> {
  readonly log: Logger;
  readonly stock: ConnectionStock;
  /** What one tenant's budgets are part of. */
  readonly within: (tenant: string) => Surroundings['within'];
}

/** How long it may take to start a tenant's sync, in milliseconds. */
const startMs = 30_000;

/** A busy tenant's window holds some 1 MB then. */
const usualWindow = 10_000;

/** Starts a tenant's sync. If that takes too long, because of a lock or a network, gives up and leaves nothing behind. */
export async function startTenant<Context extends UserContext, Tx>(
  tenant: Tenant<Context>,
  { userPrefix, ...options }: OpenedTenant<Context, Tx>,
  shared: Shared,
): Promise<StartedSync<Context>> {
  const { telemetry, lookIntervalMs, log, stock, within } = shared;
  const users = new OwnUsers<Context>(userPrefix ?? usualPrefix(tenant.name));
  const pools: StockedPool[] = [];
  const createPool: ConnectionStock['createPool'] = (config) => {
    const pool = stock.createPool(config);
    pools.push(pool);
    return pool;
  };
  let isLate = false;
  const giveUp = setTimeout(() => {
    isLate = true;
    for (const pool of pools) pool.breakOff();
  }, startMs);
  try {
    const sync = await startSync<Context, Tx>(
      { window: usualWindow, ...users.options(options), metrics: 'off' } as Parameters<
        typeof startSync<Context, Tx>
      >[0],
      {
        surroundings: {
          telemetry,
          lookIntervalMs,
          log: withFields(log, { tenant: tenant.name }),
          stock: { createPool },
          within: within(tenant.name),
          onAnswered: () => tenant.end(),
        },
      },
    );
    return users.sync(counted(sync, tenant));
  } catch (cause) {
    if (isLate) throw new SetupError(`Opening took more than ${startMs / 1000} seconds.`, { cause });
    throw cause;
  } finally {
    clearTimeout(giveUp);
  }
}

/** The same sync, which tells the tenant when it begins to answer a request. */
function counted<Context extends UserContext>(
  sync: StartedSync<Context>,
  tenant: Tenant<Context>,
): StartedSync<Context> {
  const begun = <Args extends unknown[]>(answer: (...args: Args) => Promise<Response>) => {
    return (...args: Args) => {
      tenant.begin();
      return answer(...args);
    };
  };
  return { ...sync, fetch: begun(sync.fetch), pull: begun(sync.pull), push: begun(sync.push), poke: begun(sync.poke) };
}
