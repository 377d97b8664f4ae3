import { setTimeout as sleep } from 'node:timers/promises';
import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { lazySync } from '../lazy-sync.js';
import { startDeadline } from '../limits/deadline.js';
import { describeError, type Logger } from '../log.js';
import type { StartedSync, Sync } from '../server.js';
import { Attempts } from './attempts.js';
import type { Resident } from './closing.js';
import type { Company } from './company.js';
import { Pace } from './pace.js';
import type { Turns } from './turns.js';

/** How many requests of a tenant may be under way at once; those beyond are refused before anything is read of them. */
const mostUnderWay = 1_000;
/** The refusals of a tenant are told one by one, so far apart, however many there are; but none later than that. */
const refusals = { everyMs: 50, longestWaitMs: 10_000 };
/** How long a request waits for its tenant to be opened. */
const patienceMs = 10_000;

/** What a tenant is made with. */
export interface TenantParts<Context extends UserContext> {
  /** Starts its sync. Rejects with a Problem if that is the answer to whoever asks; with another error if it failed. */
  readonly start: (tenant: Tenant<Context>) => Promise<StartedSync<Context>>;
  /** Adds who it is to every line. */
  readonly log: Logger;
  readonly company: Company;
  readonly turns: Turns;
  /** Has its sync end what the whole process has been told to end. */
  readonly endAsToldTo: (sync: StartedSync<Context>) => void;
}

/** A tenant, whether it is open or not: it is opened when it is first used, and again after it has been closed. */
export class Tenant<Context extends UserContext> implements Resident {
  readonly name: string;
  readonly #parts: TenantParts<Context>;
  readonly #pace: Pace;
  readonly #attempts = new Attempts();
  #lazy = this.#closed();
  #sync: StartedSync<Context> | undefined;
  /** Requests that have no response yet; and responses whose bodies have not ended. */
  #running = 0;
  #answering = 0;
  /** When the last refusal is told. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #isOpening = false;
  #isKeptUp = true;
  #usedAt = 0;
  #keptUpAt = 0;
  #keepingUp: Promise<void> | undefined;

  constructor(name: string, parts: TenantParts<Context>) {
    this.name = name;
    this.#parts = parts;
    this.#pace = new Pace(name, parts.company, parts.turns);
  }

  get isOpen(): boolean {
    return this.#sync !== undefined;
  }

  get isFailing(): boolean {
    return this.#attempts.isFailing;
  }

  /** Whether somebody waits for changes. */
  get isListening(): boolean {
    return (this.#sync?.sources.streams.used ?? 0) > 0;
  }

  get isBusy(): boolean {
    const isAnswering = this.#running > 0 || this.#answering > 0;
    return isAnswering || this.isListening || this.#isOpening || this.#keepingUp !== undefined;
  }

  get usedAt(): number {
    return this.#usedAt;
  }

  /** When its upkeep was last begun, if it has been used since; otherwise undefined. In milliseconds. */
  get neglectedSince(): number | undefined {
    return this.#sync && !this.#isKeptUp ? this.#keptUpAt : undefined;
  }

  get sources(): StartedSync['sources'] | undefined {
    return this.#sync?.sources;
  }

  /**
   * Answers a request, when it is its turn. Clients that do not heed `Retry-After`, and come again at once, are told
   * ever more slowly.
   * @throws Problem if the tenant cannot be opened, or has too many requests under way
   */
  async serve(request: Request, answer: (sync: Sync<Context>) => Promise<Response>): Promise<Response> {
    this.#parts.company.note(this.name, performance.now());
    const serving = this.use((sync) =>
      this.#pace.run(
        () => answer(sync),
        () => request.signal,
      ),
    );
    const isRefused = await serving.then(
      ({ status }) => status === 503,
      () => true,
    );
    if (isRefused) await this.#putOff();
    return serving;
  }

  /** To be called when its sync begins to answer a request. */
  begin(): void {
    this.#answering++;
  }

  /** To be called when that request has been answered, to the end of its body. */
  end(): void {
    this.#answering--;
    this.noteUse();
  }

  /**
   * Does something with its sync, and opens it before.
   * @throws as `serve`, and what the work throws
   */
  async use<T>(work: (sync: Sync<Context>) => Promise<T>): Promise<T> {
    if (this.#running >= mostUnderWay) {
      throw new Problem('unavailable', 'Too many requests of this tenant are being served; try again later');
    }
    const refusal = this.#attempts.refusal(performance.now());
    if (refusal) throw refusal;
    this.#running++;
    try {
      if (!this.#sync) await this.#open();
      return await work(this.#lazy);
    } finally {
      this.#running--;
      this.noteUse();
    }
  }

  /** To be called when it has been used, and now and then while somebody listens. */
  noteUse(): void {
    this.#usedAt = performance.now();
    this.#isKeptUp = false;
  }

  /** Does the upkeep, if it has been used since the last time. */
  keepUp(): Promise<void> {
    if (!this.#sync || this.#isKeptUp) return Promise.resolve();
    this.#isKeptUp = true;
    this.#keptUpAt = performance.now();
    this.#keepingUp ??= this.#sync
      .keepUp()
      .catch((error: unknown) =>
        this.#parts.log.warn({ error: describeError(error) }, 'Could not delete old records; trying again later'),
      )
      .finally(() => {
        this.#keepingUp = undefined;
      });
    return this.#keepingUp;
  }

  endAsToldTo(): void {
    if (this.#sync) this.#parts.endAsToldTo(this.#sync);
  }

  /** Closes it. The next use opens it again. */
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
      const sync = await this.#parts.start(this);
      this.#attempts.succeed();
      this.#keptUpAt = performance.now();
      this.#sync = sync;
      this.#parts.endAsToldTo(sync);
      return sync;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** Waits until it is the turn of another refusal to be told. */
  async #putOff(): Promise<void> {
    const now = performance.now();
    const latest = now + refusals.longestWaitMs;
    this.#refusedAt = Math.min(Math.max(this.#refusedAt + refusals.everyMs, now), latest);
    await sleep(this.#refusedAt - now);
  }

  /** @throws Problem if that fails or takes too long */
  async #open(): Promise<void> {
    const late = () => new Problem('unavailable', 'This tenant is still being opened; try again later');
    const { within, end } = startDeadline(patienceMs, late);
    try {
      await within(this.#lazy.ready());
    } finally {
      end();
    }
  }

  #fail(error: unknown): Problem {
    const now = performance.now();
    this.#attempts.fail(now, error);
    if (!(error instanceof Problem)) {
      const retryMs = Math.round(this.#attempts.waitMs(now));
      this.#parts.log.warn({ error: describeError(error), retryMs }, 'A tenant cannot be opened');
    }
    return this.#attempts.refusal(now)!;
  }
}
