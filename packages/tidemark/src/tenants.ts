import type { ClientBase } from 'pg';
import type { UserContext } from './context.js';
import { ConnectionBudget } from './db/connection-budget.js';
import { healthRoutes } from './endpoints/health.js';
import { metricsRoute } from './endpoints/metrics.js';
import { Problem } from './errors.js';
import { createApp, createRefusal } from './http/app.js';
import type { Route } from './http/route.js';
import { Admission } from './limits/admission.js';
import { PollPacer } from './limits/poll-pacer.js';
import { resolveLogger } from './log.js';
import { isStorableText } from './protocol/fields.js';
import type { PokedClients } from './protocol/poke.js';
import type { StartedSync, StartOptions, Sync } from './server.js';
import { RequestTelemetry } from './telemetry/requests.js';
import { Telemetry } from './telemetry/telemetry.js';
import { TenantGauges } from './tenants/gauges.js';
import type { TenantsOptions } from './tenants/options.js';
import { TenantRegistry } from './tenants/tenant-registry.js';
import { accessThrough, type UserAccess } from './user-access.js';
import type { Views } from './view/define.js';

/** The result of `createTenants`. */
export interface Tenants<Context extends UserContext = UserContext>
  extends Pick<Sync<Context>, 'fetch' | 'pull' | 'push' | 'poke' | 'drain' | 'close'> {
  /** Calls `poke` whenever clients of a tenant's user may have something to pull; see `Sync.onPoke`. */
  onPoke(
    tenant: string,
    ctx: Context,
    poke: () => unknown,
    clients?: PokedClients,
    onEnd?: () => unknown,
  ): Promise<() => void>;
  /**
   * Returns the access of a tenant's user for code of the server; see `Sync.as`. The type parameters are those of the
   * tenant's mutators and views: `as<typeof mutators, typeof views>(tenant, ctx)`.
   */
  as<Registered extends object = object, Defined extends Views<never> = Views<never>>(
    tenant: string,
    ctx: Context,
  ): UserAccess<Registered, Defined>;
  /** Ends everything that is open for a tenant's user, on all servers; see `Sync.disconnect`. */
  disconnect(tenant: string, userID: string): Promise<void>;
  /** Opens a tenant, and rejects with the reason if the server cannot answer its pulls. */
  ready(tenant: string): Promise<void>;
}

const MiB = 1024 * 1024;
/** The maximum length of a tenant's name, in UTF-16 units. */
const maxNameLength = 200;

/**
 * Serves many tenants, each from a database or a schema of its own, which it opens when the tenant is first used.
 * @throws RangeError for a limit that is not positive
 */
export async function createTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
): Promise<Tenants<Context>> {
  return startTenants(options);
}

/** Tenants, with an additional function for serving them in several processes. */
export interface StartedTenants<Context extends UserContext = UserContext>
  extends Tenants<Context>,
    Pick<StartedSync<Context>, 'endStreams'> {}

/** Serves many tenants, in this process or as one of several processes. */
export async function startTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
  { processes }: Pick<StartOptions, 'processes'> = {},
): Promise<StartedTenants<Context>> {
  const { maxOpen = 1_000, idleMs = 300_000, connections = 100, metrics = 'off' } = options;
  const log = resolveLogger(options.log);
  for (const [name, value] of Object.entries({ maxOpen, idleMs, connections })) {
    if (!(value > 0)) throw new RangeError(`The option \`${name}\` must be a positive number.`);
  }
  const telemetry = await Telemetry.start(metrics !== 'off', processes);
  const connectionBudget = new ConnectionBudget(connections);
  const admission = sharedAdmission();
  const resources = { log, telemetry, connectionBudget, admission, pollPacer: new PollPacer() };
  const registry = new TenantRegistry({ maxOpen, idleMs, application: options, resources });
  const gauges = new TenantGauges({ connectionBudget, admission, registry });
  telemetry.observe(gauges);

  const appOptions = { observer: new RequestTelemetry(telemetry) };
  const routes = processRoutes(registry, metrics === 'public' ? telemetry : undefined);
  const processPaths = new Set(routes.map(({ path }) => path));
  const processApp = createApp(routes, log, appOptions);
  const refuse = createRefusal(log, appOptions);
  const tenant = (name: string | null) => {
    if (!isName(name)) throw new Problem('not-found', 'There is no such tenant');
    return registry.tenant(name);
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
      if (processPaths.has(new URL(request.url).pathname)) return processApp.fetch(request, env);
      return serve(request, env, (sync) => sync.fetch(request, env));
    },
    pull: (request, ctx, env) => serve(request, env, (sync) => sync.pull(request, ctx, env)),
    push: (request, ctx, env) => serve(request, env, (sync) => sync.push(request, ctx, env)),
    poke: (request, ctx, env) => serve(request, env, (sync) => sync.poke(request, ctx, env)),
    onPoke: async (name, ...hook) => tenant(name).use((sync) => sync.onPoke(...hook)),
    as: (name, ctx) => accessThrough(ctx, async (work) => tenant(name).useInTurn(async (sync) => work(sync.as(ctx)))),
    disconnect: async (name, userID) => tenant(name).use((sync) => sync.disconnect(userID)),
    ready: async (name) => tenant(name).use((sync) => sync.ready()),
    drain: () => registry.drain(),
    endStreams: () => registry.endStreams(),
    async close() {
      telemetry.end();
      gauges.end();
      await registry.close();
    },
  };
}

/** Types the default export of a `tidemark.config.ts` with tenants. Returns its argument unchanged. */
export function defineTenants<Context extends UserContext = UserContext, Tx = ClientBase>(
  options: TenantsOptions<Context, Tx>,
): TenantsOptions<Context, Tx> {
  return options;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxNameLength && isStorableText(value);
}

/** The admission of all tenants together. One tenant can use as much as a server with only this tenant could. */
function sharedAdmission(): Admission {
  return new Admission({
    limits: { bodies: 128 * MiB, spool: 4096 * MiB },
    streams: { maxStreams: 40_000, maxStreamsPerUser: 10_000 },
  });
}

/** The routes of the process. A tenant's failure does not make it unready, which would cut off all other tenants. */
function processRoutes<Context extends UserContext, Tx>(
  registry: TenantRegistry<Context, Tx>,
  telemetry: Telemetry | undefined,
): Route[] {
  const routes = healthRoutes('', registry);
  if (telemetry?.isExposed) routes.push(metricsRoute({ telemetry, basePath: '' }));
  return routes;
}
