import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { ConnectionStock } from './db/connection-stock.js';
import { healthRoutes } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { Problem } from './errors.js';
import { createApp, createRefusal } from './http/app.js';
import type { Route } from './http/route.js';
import { Budget } from './limits/budget.js';
import { startDeadline } from './limits/deadline.js';
import { resolveLogger } from './log.js';
import { isStorableText } from './protocol/fields.js';
import type { PokedClients } from './protocol/poke.js';
import type { Company, StartedSync, Sync } from './server.js';
import { observeRequests } from './telemetry/requests.js';
import { Telemetry } from './telemetry/telemetry.js';
import { House } from './tenants/house.js';
import type { TenantsOptions } from './tenants/options.js';
import { TenantReadings } from './tenants/readings.js';
import { startTenant } from './tenants/start-tenant.js';

/** What `createTenants` returns. */
export interface Tenants<Context extends UserContext = UserContext>
  extends Pick<Sync<Context>, 'fetch' | 'pull' | 'push' | 'poke' | 'drain' | 'close'> {
  /** As `onPoke` of a sync, for a user of the tenant of this name. */
  onPoke(
    tenant: string,
    ctx: Context,
    poke: () => unknown,
    clients?: PokedClients,
    onEnd?: () => unknown,
  ): Promise<() => void>;
  /** As `disconnect` of a sync, for a user of the tenant of this name. */
  disconnect(tenant: string, userID: string): Promise<void>;
  /** Opens the tenant of this name, and rejects with the reason if its pulls cannot be answered. */
  ready(tenant: string): Promise<void>;
}

const MiB = 1024 * 1024;
/** The part that one tenant may have of what all share. */
const share = 1 / 4;
/** The longest name of a tenant, in UTF-16 units. */
const longestName = 200;
/** How long the application may take to say what a tenant's options are, in milliseconds. */
const openMs = 30_000;
/** While nothing happens, all tenants with listeners together look for changes a hundred times a second at most. */
const lookMs = 10;

/**
 * Serves many tenants, each from a database or a schema of its own, which is opened when it is first used.
 * @throws RangeError for a bound that is not positive
 */
export async function createTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
): Promise<Tenants<Context>> {
  return startTenants(options);
}

/** Tenants, and what one of several processes that serve them must know. */
export interface StartedTenants<Context extends UserContext = UserContext>
  extends Tenants<Context>,
    Pick<StartedSync<Context>, 'endStreams'> {}

/** The same, in one of several processes. */
export async function startTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
  { together }: Pick<Company, 'together'> = {},
): Promise<StartedTenants<Context>> {
  const { mostOpen = 1_000, idleMs = 300_000, connections = 100, metrics = 'off' } = options;
  const log = resolveLogger(options.log);
  for (const [name, value] of Object.entries({ mostOpen, idleMs, connections })) {
    if (!(value > 0)) throw new RangeError(`The option \`${name}\` must be a positive number.`);
  }
  const telemetry = await Telemetry.start(metrics !== 'off', together);
  const stock = new ConnectionStock(connections);
  const budgets = sharedBudgets();
  const shared = {
    log,
    telemetry,
    stock,
    within: (as: string) => ({
      bodies: { budget: budgets.bodies, as },
      spool: { budget: budgets.spool, as },
      streams: { budget: budgets.streams, as },
    }),
    lookIntervalMs: (own: number) => Math.max(own, lookMs * house.listening),
  };
  const house: House<Context> = new House<Context>({
    mostOpen,
    idleMs,
    log,
    prepare: async (tenant) => {
      const late = () => new Error(`The option \`open\` has not returned after ${openMs / 1000} seconds`);
      const { within, end } = startDeadline(openMs, late);
      const opened = await within((async () => options.open(tenant.name))()).finally(end);
      if (!opened) throw new Problem('not-found', 'There is no such tenant');
      return () => startTenant(tenant, opened, shared);
    },
  });
  const readings = new TenantReadings({
    stock,
    held: budgets,
    occupancy: () => house.occupancy(),
    open: () => house.open().flatMap(({ sources }) => sources ?? []),
  });
  telemetry.observe(async () => readings.read());

  const hooks = { observer: observeRequests(telemetry) };
  const routes = ownRoutes(house, metrics === 'public' ? telemetry : undefined);
  const ownPaths = new Set(routes.map(({ path }) => path));
  const own = createApp(routes, log, hooks);
  const refuse = createRefusal(log, hooks);
  const tenant = (name: string | null) => {
    if (!isName(name)) throw new Problem('not-found', 'There is no such tenant');
    return house.tenant(name);
  };
  const serve = async (request: Request, env: unknown, answer: (sync: Sync<Context>) => Promise<Response>) => {
    try {
      return await tenant(await options.tenantOf(request)).serve(request, answer);
    } catch (error) {
      return refuse(request, env, error);
    }
  };

  return {
    async fetch(request, env) {
      if (ownPaths.has(new URL(request.url).pathname)) return own.fetch(request, env);
      return serve(request, env, (sync) => sync.fetch(request, env));
    },
    pull: (request, ctx, env) => serve(request, env, (sync) => sync.pull(request, ctx, env)),
    push: (request, ctx, env) => serve(request, env, (sync) => sync.push(request, ctx, env)),
    poke: (request, ctx, env) => serve(request, env, (sync) => sync.poke(request, ctx, env)),
    onPoke: async (name, ...hook) => tenant(name).use((sync) => sync.onPoke(...hook)),
    disconnect: async (name, userID) => tenant(name).use((sync) => sync.disconnect(userID)),
    ready: async (name) => tenant(name).use((sync) => sync.ready()),
    drain: () => house.drain(),
    endStreams: () => house.endStreams(),
    async close() {
      telemetry.end();
      readings.end();
      await house.close();
    },
  };
}

/** Gives the default export of `tidemark.config.ts` its type, where there are tenants. Returns it unchanged. */
export function defineTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
): TenantsOptions<Context, Tx> {
  return options;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestName && isStorableText(value);
}

/** What all tenants together may hold. One of them may have as much as it could if there were no others. */
function sharedBudgets() {
  const budget = (total: number, refusal: string) => new Budget({ total, each: share * total, refusal });
  return {
    bodies: budget(128 * MiB, 'Too many large requests are being served; try again later'),
    spool: budget(4096 * MiB, 'Too many clients read slowly'),
    streams: budget(40_000, 'Too many streams of pokes are open; try again later'),
  };
}

/** What the process says about itself. No tenant's trouble makes it unready: the others would be cut off too. */
function ownRoutes<Context extends UserContext>(house: House<Context>, telemetry: Telemetry | undefined): Route[] {
  const routes = healthRoutes({
    basePath: '',
    isStopping: () => house.isStopping,
    state: async () => ({ tenants: house.occupancy() }),
  });
  const exposition = telemetry?.exposition;
  if (exposition) routes.push(metricsRoute({ exposition, basePath: '', admit: async () => {} }));
  return routes;
}
