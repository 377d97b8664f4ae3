import type { UserContext } from '../context.js';
import type { Readiness } from '../endpoints/health.js';
import { Problem } from '../errors.js';
import { describeError, type Logger, withFields } from '../log.js';
import { repeat } from '../repeat.js';
import type { StartedSync } from '../server.js';
import type { GaugeSources } from '../telemetry/gauges.js';
import { idleTenants, leastRecentlyUsed } from './eviction.js';
import type { TenantsOptions } from './options.js';
import { openConfig, startTenant, type TenantResources } from './start-tenant.js';
import { Tenant, type TenantOwner } from './tenant.js';
import { dueForUpkeep } from './upkeep.js';

const maxSweepIntervalMs = 1_000;
/** The maximum number of tenants in memory that are not open, including those that do not exist. */
const maxClosedTenants = 10_000;

/** The options of `TenantRegistry`. */
export interface TenantRegistryOptions<Context extends UserContext, Tx> {
  /** The application, which knows its tenants. */
  readonly application: Pick<TenantsOptions<Context, Tx>, 'open'>;
  readonly maxOpen: number;
  readonly idleMs: number;
  readonly resources: TenantResources;
}

/** The number of tenants in each state. */
export interface TenantCounts {
  readonly open: number;
  /** The number of open tenants with requests or subscribers. */
  readonly busy: number;
  /** The number of tenants that could not be opened when they were last requested. */
  readonly failing: number;
}

/** The tenants that have been requested: all open ones, and some that are not open. */
export class TenantRegistry<Context extends UserContext, Tx> implements Readiness, TenantOwner<Context> {
  readonly #options: TenantRegistryOptions<Context, Tx>;
  readonly #log: Logger;
  /** Tenants that are open or being opened. */
  readonly #openTenants = new Map<string, Tenant<Context>>();
  /** Tenants that are not open, in the order of insertion. */
  readonly #closedTenants = new Map<string, Tenant<Context>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #endSweeps: () => void;
  #isStopping = false;
  #isReplaced = false;
  #isClosed = false;

  constructor(options: TenantRegistryOptions<Context, Tx>) {
    this.#options = options;
    this.#log = options.resources.log;
    const onFailure = (error: unknown) => this.#log.error({ error: describeError(error) }, 'Idle tenants stay open');
    this.#endSweeps = repeat(async () => this.#sweep(), Math.min(options.idleMs, maxSweepIntervalMs), onFailure);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  async check(): Promise<object> {
    return { tenants: this.counts() };
  }

  /** Returns the open tenants. */
  listOpen(): Tenant<Context>[] {
    return [...this.#openTenants.values()].filter(({ isOpen }) => isOpen);
  }

  /** Returns the gauge sources of each open tenant. */
  gaugeSources(): GaugeSources[] {
    return this.listOpen().flatMap(({ gaugeSources }) => gaugeSources ?? []);
  }

  counts(): TenantCounts {
    const open = this.listOpen();
    const busy = open.filter(({ isBusy }) => isBusy).length;
    const failing = [...this.#closedTenants.values()].filter(({ isFailing }) => isFailing).length;
    return { open: open.length, busy, failing };
  }

  /** Returns the tenant of this name, open or not. */
  tenant(name: string): Tenant<Context> {
    const existing = this.#openTenants.get(name) ?? this.#closedTenants.get(name);
    if (existing) return existing;
    const tenant: Tenant<Context> = new Tenant<Context>(name, {
      owner: this,
      log: withFields(this.#log, { tenant: name }),
    });
    this.#closedTenants.set(name, tenant);
    this.#trimClosed();
    return tenant;
  }

  drain(): void {
    this.#isStopping = true;
    for (const tenant of this.#openTenants.values()) tenant.applyShutdown();
  }

  /** Ends streams without reporting that the server is stopping, because another process answers on the same port. */
  endStreams(): void {
    this.#isReplaced = true;
    for (const tenant of this.#openTenants.values()) tenant.applyShutdown();
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#isClosed = true;
    this.#endSweeps();
    await Promise.all([...this.#openTenants.values()].map((tenant) => tenant.close()));
    await Promise.all(this.#closing);
  }

  applyShutdown(sync: StartedSync<Context>): void {
    if (this.#isStopping) sync.drain();
    else if (this.#isReplaced) sync.endStreams();
  }

  async start(tenant: Tenant<Context>): Promise<StartedSync<Context>> {
    // Requests for tenants that do not exist fail here, before an open tenant is closed for them.
    const config = await openConfig(this.#options.application, tenant.name);
    this.#markOpen(tenant);
    try {
      return await startTenant(tenant, config, this.#options.resources);
    } catch (error) {
      this.#markClosed(tenant);
      throw error;
    }
  }

  /** @throws Problem `unavailable` if the maximum number of tenants is open and all are busy, or after `close` */
  #markOpen(tenant: Tenant<Context>): void {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    if (this.#openTenants.size >= this.#options.maxOpen) {
      const victim = leastRecentlyUsed(this.#openTenants.values());
      if (!victim) throw new Problem('unavailable', 'Too many tenants are being served here; try again later');
      this.#evict(victim);
    }
    this.#closedTenants.delete(tenant.name);
    this.#openTenants.set(tenant.name, tenant);
  }

  #markClosed(tenant: Tenant<Context>): void {
    this.#openTenants.delete(tenant.name);
    this.#closedTenants.set(tenant.name, tenant);
  }

  /** Closes a tenant in the background. A request during that time opens the tenant again as a new instance. */
  #evict(tenant: Tenant<Context>): void {
    this.#openTenants.delete(tenant.name);
    const closing = tenant
      .runUpkeep()
      .then(() => tenant.close())
      .catch((error: unknown) => this.#log.warn({ error: describeError(error) }, 'A tenant did not close'))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #sweep(): void {
    const now = performance.now();
    for (const tenant of idleTenants(this.#openTenants.values(), now, this.#options.idleMs)) this.#evict(tenant);
    const subscribed = [...this.#openTenants.values()].filter(({ hasSubscribers }) => hasSubscribers);
    for (const tenant of subscribed) tenant.recordUse();
    this.#options.resources.pollPacer.subscribedCount = subscribed.length;
    for (const { tenant, inMs } of dueForUpkeep(this.#openTenants.values(), now)) {
      setTimeout(() => tenant.runUpkeep(), inMs).unref();
    }
  }

  #trimClosed(): void {
    for (const [name, { isBusy }] of this.#closedTenants) {
      if (this.#closedTenants.size <= maxClosedTenants) return;
      if (!isBusy) this.#closedTenants.delete(name);
    }
  }
}
