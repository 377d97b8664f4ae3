import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { describeError, type Logger, withFields } from '../log.js';
import { repeat } from '../repeat.js';
import type { StartedSync } from '../server.js';
import { ConcurrencyShares } from './concurrency-shares.js';
import { idleTenants, leastRecentlyUsed } from './eviction.js';
import { FloodLimiter } from './flood-limiter.js';
import { Tenant } from './tenant.js';
import { dueForUpkeep } from './upkeep.js';

const maxSweepIntervalMs = 1_000;
/** The maximum number of tenants in memory that are not open, including those that do not exist. */
const maxClosedTenants = 10_000;

/** The options of `TenantRegistry`. */
export interface TenantRegistryOptions<Context extends UserContext> {
  readonly maxOpen: number;
  readonly idleMs: number;
  readonly log: Logger;
  /**
   * Looks up how to start a tenant. Returns the start function. A Problem that it rejects with becomes the response.
   */
  readonly prepare: (tenant: Tenant<Context>) => Promise<() => Promise<StartedSync<Context>>>;
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
export class TenantRegistry<Context extends UserContext> {
  readonly #options: TenantRegistryOptions<Context>;
  /** Tenants that are open or being opened. */
  readonly #openTenants = new Map<string, Tenant<Context>>();
  /** Tenants that are not open, in the order of insertion. */
  readonly #closedTenants = new Map<string, Tenant<Context>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #endSweeps: () => void;
  readonly #floodLimiter = new FloodLimiter();
  readonly #shares = new ConcurrencyShares(this.#floodLimiter);
  #subscribedCount = 0;
  #isStopping = false;
  #isReplaced = false;
  #isClosed = false;

  constructor(options: TenantRegistryOptions<Context>) {
    this.#options = options;
    const onFailure = (error: unknown) => options.log.error({ error: describeError(error) }, 'Idle tenants stay open');
    this.#endSweeps = repeat(async () => this.#sweep(), Math.min(options.idleMs, maxSweepIntervalMs), onFailure);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** The number of tenants that had subscribers at the last sweep. */
  get subscribedCount(): number {
    return this.#subscribedCount;
  }

  /** Returns the open tenants. */
  listOpen(): Tenant<Context>[] {
    return [...this.#openTenants.values()].filter(({ isOpen }) => isOpen);
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
      start: (one) => this.#start(one),
      log: withFields(this.#options.log, { tenant: name }),
      floodLimiter: this.#floodLimiter,
      shares: this.#shares,
      applyShutdown: (sync) => this.#applyShutdown(sync),
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

  #applyShutdown(sync: StartedSync<Context>): void {
    if (this.#isStopping) sync.drain();
    else if (this.#isReplaced) sync.endStreams();
  }

  async #start(tenant: Tenant<Context>): Promise<StartedSync<Context>> {
    // Requests for tenants that do not exist fail here, before an open tenant is closed for them.
    const start = await this.#options.prepare(tenant);
    this.#markOpen(tenant);
    try {
      return await start();
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
    this.#floodLimiter.forget(tenant.name);
    const closing = tenant
      .runUpkeep()
      .then(() => tenant.close())
      .catch((error: unknown) => this.#options.log.warn({ error: describeError(error) }, 'A tenant did not close'))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #sweep(): void {
    const now = performance.now();
    for (const tenant of idleTenants(this.#openTenants.values(), now, this.#options.idleMs)) this.#evict(tenant);
    const subscribed = [...this.#openTenants.values()].filter(({ hasSubscribers }) => hasSubscribers);
    for (const tenant of subscribed) tenant.recordUse();
    this.#subscribedCount = subscribed.length;
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
