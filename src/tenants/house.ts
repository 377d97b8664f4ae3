import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { describeError, type Logger, withFields } from '../log.js';
import { repeat } from '../repeat.js';
import type { StartedSync } from '../server.js';
import { idleSince, leastRecent } from './closing.js';
import { Company } from './company.js';
import { Tenant } from './tenant.js';
import { Turns } from './turns.js';
import { dueForUpkeep } from './upkeep.js';

const longestSweepMs = 1_000;
/** How many tenants are remembered that are not open, such as those that there are not. */
const mostShut = 10_000;

/** The options of `House`. */
export interface HouseOptions<Context extends UserContext> {
  readonly mostOpen: number;
  readonly idleMs: number;
  readonly log: Logger;
  /**
   * Finds out how a tenant is to be started, and returns what starts it. Rejects with a Problem if that is the answer.
   */
  readonly prepare: (tenant: Tenant<Context>) => Promise<() => Promise<StartedSync<Context>>>;
}

/** How many tenants there are. */
export interface Occupancy {
  readonly open: number;
  /** Of these, how many have requests or listeners. */
  readonly busy: number;
  /** How many could not be opened when they were last asked for. */
  readonly failing: number;
}

/** All tenants that have been asked for: those that have a room, and some others. */
export class House<Context extends UserContext> {
  readonly #options: HouseOptions<Context>;
  /** Open, or being opened. */
  readonly #resident = new Map<string, Tenant<Context>>();
  /** The one that was asked for first comes first. */
  readonly #shut = new Map<string, Tenant<Context>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #endSweeps: () => void;
  readonly #company = new Company();
  readonly #turns = new Turns(this.#company);
  #listening = 0;
  #isStopping = false;
  #isReplaced = false;
  #isClosed = false;

  constructor(options: HouseOptions<Context>) {
    this.#options = options;
    const onFailure = (error: unknown) => options.log.error({ error: describeError(error) }, 'Idle tenants stay open');
    this.#endSweeps = repeat(async () => this.#sweep(), Math.min(options.idleMs, longestSweepMs), onFailure);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** How many tenants had listeners at the last sweep. */
  get listening(): number {
    return this.#listening;
  }

  /** Those that are open. */
  open(): Tenant<Context>[] {
    return [...this.#resident.values()].filter(({ isOpen }) => isOpen);
  }

  occupancy(): Occupancy {
    const open = this.open();
    const busy = open.filter(({ isBusy }) => isBusy).length;
    const failing = [...this.#shut.values()].filter(({ isFailing }) => isFailing).length;
    return { open: open.length, busy, failing };
  }

  /** The tenant of this name, open or not. */
  tenant(name: string): Tenant<Context> {
    const known = this.#resident.get(name) ?? this.#shut.get(name);
    if (known) return known;
    const tenant: Tenant<Context> = new Tenant<Context>(name, {
      start: (one) => this.#start(one),
      log: withFields(this.#options.log, { tenant: name }),
      company: this.#company,
      turns: this.#turns,
      endAsToldTo: (sync) => this.#endAsToldTo(sync),
    });
    this.#shut.set(name, tenant);
    this.#forget();
    return tenant;
  }

  drain(): void {
    this.#isStopping = true;
    for (const tenant of this.#resident.values()) tenant.endAsToldTo();
  }

  /** As `drain`, but the process is not about to stop for whoever asks: another one answers on the same port. */
  endStreams(): void {
    this.#isReplaced = true;
    for (const tenant of this.#resident.values()) tenant.endAsToldTo();
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#isClosed = true;
    this.#endSweeps();
    await Promise.all([...this.#resident.values()].map((tenant) => tenant.close()));
    await Promise.all(this.#closing);
  }

  #endAsToldTo(sync: StartedSync<Context>): void {
    if (this.#isStopping) sync.drain();
    else if (this.#isReplaced) sync.endStreams();
  }

  async #start(tenant: Tenant<Context>): Promise<StartedSync<Context>> {
    // Whoever asks for tenants that there are not takes no room from others.
    const start = await this.#options.prepare(tenant);
    this.#moveIn(tenant);
    try {
      return await start();
    } catch (error) {
      this.#moveOut(tenant);
      throw error;
    }
  }

  /** @throws Problem `unavailable` if there is no room, and all who have one are busy */
  #moveIn(tenant: Tenant<Context>): void {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    if (this.#resident.size >= this.#options.mostOpen) {
      const leaving = leastRecent(this.#resident.values());
      if (!leaving) throw new Problem('unavailable', 'Too many tenants are being served here; try again later');
      this.#leave(leaving);
    }
    this.#shut.delete(tenant.name);
    this.#resident.set(tenant.name, tenant);
  }

  #moveOut(tenant: Tenant<Context>): void {
    this.#resident.delete(tenant.name);
    this.#shut.set(tenant.name, tenant);
  }

  /** Closes a tenant, in the background. Whoever asks for it meanwhile has another one opened. */
  #leave(tenant: Tenant<Context>): void {
    this.#resident.delete(tenant.name);
    this.#company.forget(tenant.name);
    const closing = tenant
      .keepUp()
      .then(() => tenant.close())
      .catch((error: unknown) => this.#options.log.warn({ error: describeError(error) }, 'A tenant did not close'))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #sweep(): void {
    const now = performance.now();
    for (const tenant of idleSince(this.#resident.values(), now, this.#options.idleMs)) this.#leave(tenant);
    const listening = [...this.#resident.values()].filter(({ isListening }) => isListening);
    for (const tenant of listening) tenant.noteUse();
    this.#listening = listening.length;
    for (const { one, inMs } of dueForUpkeep(this.#resident.values(), now))
      setTimeout(() => one.keepUp(), inMs).unref();
  }

  #forget(): void {
    for (const [name, { isBusy }] of this.#shut) {
      if (this.#shut.size <= mostShut) return;
      if (!isBusy) this.#shut.delete(name);
    }
  }
}
