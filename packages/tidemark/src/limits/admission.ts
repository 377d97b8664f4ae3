/** Decides which requests a server starts, and how much each user can hold at the same time. */
import type { UserContext } from '../context.js';
import type { Logger } from '../log.js';
import { Budget, type BudgetOptions } from './budget.js';
import { PerTickLimiter } from './per-tick-limiter.js';
import { isPrivate, networkOf, type RateOptions, RequestCounter } from './rates.js';
import { type RequestLimitOptions, type RequestLimits, requestLimits } from './request-limits.js';

const perUserDefault = 10_000;
const perAddressDefault = 20_000;

/** The fraction of a budget that one user can have. */
const share = 1 / 4;

/** The options of `Admission`. */
export interface AdmissionOptions {
  readonly limits?: RequestLimitOptions | undefined;
  /** The maximum numbers of open streams, as in the option `pokes`. */
  readonly streams?:
    | { readonly maxStreams?: number | undefined; readonly maxStreamsPerUser?: number | undefined }
    | undefined;
  /** Default: requests are not counted. */
  readonly rates?: RateOptions | undefined;
  /** The admission of several servers in one process, and the name of this one. Default: none. */
  readonly parent?: { readonly admission: Admission; readonly consumer: string } | undefined;
}

/**
 * Counts the requests of each user and from each address, starts those of one user a few at a time, and tracks what
 * they hold. Refuses a request immediately, with a time to retry, if a limit is reached. Requests wait elsewhere only
 * for a database connection (`semaphore.ts`) and in a tenant's queue (`tenants/tenant-limiter.ts`).
 */
export class Admission {
  /** The maximum sizes of requests. */
  readonly limits: RequestLimits;
  /** The bytes of request bodies in memory. */
  readonly bodies: Budget;
  /** The bytes in temporary files. Never refuses: without space, a response keeps its database connection. */
  readonly spool: Budget;
  /** The streams of pokes and of views, waiting requests, and hooks. */
  readonly streams: Budget;
  readonly #users: RequestCounter | undefined;
  readonly #addresses: RequestCounter | undefined;
  readonly #addressOf: RateOptions['address'];
  readonly #perTickLimiter = new PerTickLimiter();

  constructor({ limits, streams = {}, rates, parent }: AdmissionOptions) {
    this.limits = requestLimits(limits);
    const { pull, push, call, bodies, spool } = this.limits;
    const maxBody = Math.max(pull, push, call);
    const { maxStreams = 10_000, maxStreamsPerUser = maxStreams / 10 } = streams;
    const budget = (name: 'bodies' | 'spool' | 'streams', options: Omit<BudgetOptions, 'parent'>) =>
      new Budget({ ...options, parent: parent && { budget: parent.admission[name], consumer: parent.consumer } });
    this.bodies = budget('bodies', {
      total: Math.max(bodies, maxBody),
      perUser: Math.max(share * bodies, maxBody),
      refusal: 'Too many large requests are being served; try again later',
    });
    this.spool = budget('spool', { total: spool, perUser: share * spool, refusal: 'Too many clients read slowly' });
    this.streams = budget('streams', {
      total: maxStreams,
      perUser: maxStreamsPerUser,
      refusal: 'Too many streams of pokes are open; try again later',
    });
    const { perUser = perUserDefault, perAddress = perAddressDefault, address } = rates ?? noRates;
    const counter = (rate: typeof perUser, refusal: string) =>
      rate === false ? undefined : new RequestCounter(rate, refusal);
    this.#users = counter(perUser, 'This user sends too many requests; try again later');
    this.#addresses = counter(perAddress, 'Too many requests come from this address; try again later');
    this.#addressOf = address;
  }

  /**
   * Counts a request from an address.
   * @param connected the remote address of the connection, if it is known
   * @throws Problem `too-many-requests`
   */
  async admitAddress(request: Request, connected: string | undefined, log: Logger): Promise<void> {
    if (!this.#addresses) return;
    const address = this.#addressOf ? this.#addressOf(request) : connected;
    const isLimited = address !== undefined && (this.#addressOf !== undefined || !isPrivate(address));
    if (isLimited) await this.#addresses.count(this.#addressOf ? address : networkOf(address), log);
  }

  /**
   * Counts a request of a user, however it is authenticated. Resolves when it can start.
   * @throws Problem `too-many-requests`
   */
  async admitUser({ userID }: UserContext, log: Logger): Promise<void> {
    await this.#users?.count(userID, log);
    await this.#perTickLimiter.begin(userID);
  }
}

const noRates: RateOptions = { perUser: false, perAddress: false };
