import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { lazySync } from '../lazy-sync.js';
import { startDeadline } from '../limits/deadline.js';
import { describeError, type Logger } from '../log.js';
import type { StartedSync, Sync } from '../server.js';
import type { RequestTracker } from '../telemetry/requests.js';
import { BackOff } from './back-off.js';
import type { OpenTenant } from './eviction.js';
import { RefusalQueue } from './refusal-queue.js';
import { TenantLimiter } from './tenant-limiter.js';

/** The maximum number of a tenant's concurrent requests. The server refuses others before it reads them. */
const maxConcurrentRequests = 1_000;
/** How long a request waits for its tenant to open. */
const openTimeoutMs = 10_000;

/** Starts the syncs of tenants, and ends them with the process. */
export interface TenantOwner<Context extends UserContext> {
  /**
   * Starts the tenant's sync. A Problem that it rejects with becomes the response; any other error counts as a failure.
   */
  start(tenant: Tenant<Context>): Promise<StartedSync<Context>>;
  /** Drains the sync, or ends its streams, if the whole process has been told to. */
  applyShutdown(sync: StartedSync<Context>): void;
}

/** The dependencies of a `Tenant`. */
export interface TenantParts<Context extends UserContext> {
  readonly owner: TenantOwner<Context>;
  /** Adds the tenant's name to every line. */
  readonly log: Logger;
}

/** A tenant, open or not. It opens at its first use, and again after it has been closed. */
export class Tenant<Context extends UserContext> implements OpenTenant, RequestTracker {
  readonly name: string;
  readonly #parts: TenantParts<Context>;
  readonly #limiter = new TenantLimiter();
  readonly #backOff = new BackOff();
  readonly #refusals = new RefusalQueue();
  #lazy = this.#closed();
  #sync: StartedSync<Context> | undefined;
  /** Requests without a response, and responses whose bodies have not ended. */
  #running = 0;
  #answering = 0;
  #isOpening = false;
  #isUpkeepDone = true;
  #usedAt = 0;
  #lastUpkeepAt = 0;
  #runningUpkeep: Promise<void> | undefined;

  constructor(name: string, parts: TenantParts<Context>) {
    this.name = name;
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#sync !== undefined;
  }

  get isFailing(): boolean {
    return this.#backOff.isFailing;
  }

  /** True if a client waits for changes. */
  get hasSubscribers(): boolean {
    return (this.#sync?.gaugeSources.admission.streams.used ?? 0) > 0;
  }

  get isBusy(): boolean {
    const isAnswering = this.#running > 0 || this.#answering > 0;
    return isAnswering || this.hasSubscribers || this.#isOpening || this.#runningUpkeep !== undefined;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** The start of its last upkeep in milliseconds, if it has been used since; otherwise undefined. */
  get neglectedSince(): number | undefined {
    return this.#sync && !this.#isUpkeepDone ? this.#lastUpkeepAt : undefined;
  }

  get gaugeSources(): StartedSync['gaugeSources'] | undefined {
    return this.#sync?.gaugeSources;
  }

  /**
   * Answers a request when the limiter admits it. Clients that ignore `Retry-After` and retry immediately receive their
   * refusals ever more slowly.
   * @throws Problem if the tenant cannot be opened, or has too many concurrent requests
   */
  async serve(request: Request, answer: (sync: Sync<Context>) => Promise<Response>): Promise<Response> {
    const serving = this.useInTurn(answer, request);
    const isRefused = await serving.then(
      ({ status }) => status === 503,
      () => true,
    );
    if (isRefused) await this.#refusals.waitForTurn();
    return serving;
  }

  /** Records that the sync begins to answer a request. */
  begin(): void {
    this.#answering++;
  }

  /** Records that a request has been answered, to the end of the response's body. */
  end(): void {
    this.#answering--;
    this.recordUse();
  }

  /**
   * Runs work with the tenant's sync. Opens the tenant first, if necessary.
   * @throws Problem if the tenant cannot be opened, or has too many concurrent requests, and the errors of the work
   */
  async use<T>(work: (sync: Sync<Context>) => Promise<T>): Promise<T> {
    if (this.#running >= maxConcurrentRequests) {
      throw new Problem('unavailable', 'Too many requests of this tenant are being served; try again later');
    }
    const refusal = this.#backOff.refusal(performance.now());
    if (refusal) throw refusal;
    this.#running++;
    try {
      if (!this.#sync) await this.#open();
      return await work(this.#lazy);
    } finally {
      this.#running--;
      this.recordUse();
    }
  }

  /**
   * Runs work with the tenant's sync when the limiter admits it.
   * @param request its signal aborts when the client disconnects; undefined if code of the server makes the request
   * @throws as `use`; Problem if the limiter refuses the work
   */
  useInTurn<T>(work: (sync: Sync<Context>) => Promise<T>, request?: Request): Promise<T> {
    return this.use((sync) => this.#limiter.run(() => work(sync), request));
  }

  /** Records that the tenant was used. Also called regularly while clients wait for changes. */
  recordUse(): void {
    this.#usedAt = performance.now();
    this.#isUpkeepDone = false;
  }

  /** Runs the upkeep, if the tenant has been used since the last one. */
  runUpkeep(): Promise<void> {
    if (!this.#sync || this.#isUpkeepDone) return Promise.resolve();
    this.#isUpkeepDone = true;
    this.#lastUpkeepAt = performance.now();
    this.#runningUpkeep ??= this.#sync
      .runUpkeep()
      .catch((error: unknown) =>
        this.#parts.log.warn({ error: describeError(error) }, 'Could not delete old records; trying again later'),
      )
      .finally(() => {
        this.#runningUpkeep = undefined;
      });
    return this.#runningUpkeep;
  }

  applyShutdown(): void {
    if (this.#sync) this.#parts.owner.applyShutdown(this.#sync);
  }

  /** Closes the tenant. The next use opens it again. */
  async close(): Promise<void> {
    const lazy = this.#lazy;
    this.#lazy = this.#closed();
    this.#sync = undefined;
    await lazy.close();
  }

  #closed(): Sync<Context> {
    return lazySync(() => this.#start());
  }

  async #start(): Promise<StartedSync<Context>> {
    this.#isOpening = true;
    try {
      const sync = await this.#parts.owner.start(this);
      this.#backOff.succeed();
      this.#lastUpkeepAt = performance.now();
      this.#sync = sync;
      this.#parts.owner.applyShutdown(sync);
      return sync;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** @throws Problem if opening fails or takes too long */
  async #open(): Promise<void> {
    const createError = () => new Problem('unavailable', 'This tenant is still being opened; try again later');
    const { within, end } = startDeadline(openTimeoutMs, createError);
    try {
      await within(this.#lazy.ready());
    } finally {
      end();
    }
  }

  #fail(error: unknown): Problem {
    const now = performance.now();
    this.#backOff.fail(now, error);
    if (!(error instanceof Problem)) {
      const retryMs = Math.round(this.#backOff.waitMs(now));
      this.#parts.log.warn({ error: describeError(error), retryMs }, 'A tenant cannot be opened');
    }
    return this.#backOff.refusal(now)!;
  }
}
