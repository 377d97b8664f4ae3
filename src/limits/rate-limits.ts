/** Applies the rate limits of users and of addresses to requests. */
import type { UserContext } from '../context.js';
import type { Logger } from '../log.js';
import { PerTickLimiter } from './per-tick-limiter.js';
import { isPrivate, networkOf, type RateOptions, RequestCounter } from './rates.js';

const perUserDefault = 10_000;
const perAddressDefault = 20_000;

/** Counts the requests of each user and from each address. Starts those of one user a few at a time. */
export class RateLimits {
  readonly #ofUsers: RequestCounter | undefined;
  readonly #ofAddresses: RequestCounter | undefined;
  readonly #addressOf: RateOptions['address'];
  readonly #perTickLimiter = new PerTickLimiter();

  constructor({ perUser = perUserDefault, perAddress = perAddressDefault, address }: RateOptions) {
    const ofUsers = 'This user sends too many requests; try again later';
    const ofAddresses = 'Too many requests come from this address; try again later';
    this.#ofUsers = perUser === false ? undefined : new RequestCounter(perUser, ofUsers);
    this.#ofAddresses = perAddress === false ? undefined : new RequestCounter(perAddress, ofAddresses);
    this.#addressOf = address;
  }

  /**
   * Counts a request of a user, however it is authenticated. Resolves when it can start.
   * @throws Problem `too-many-requests`
   */
  async admitUser({ userID }: UserContext, log: Logger): Promise<void> {
    await this.#ofUsers?.count(userID, log);
    await this.#perTickLimiter.begin(userID);
  }

  /**
   * Counts a request from an address.
   * @param connected the remote address of the connection, if it is known
   * @throws Problem `too-many-requests`
   */
  async admitAddress(request: Request, connected: string | undefined, log: Logger): Promise<void> {
    if (!this.#ofAddresses) return;
    const address = this.#addressOf ? this.#addressOf(request) : connected;
    const isLimited = address !== undefined && (this.#addressOf !== undefined || !isPrivate(address));
    if (isLimited) await this.#ofAddresses.count(this.#addressOf ? address : networkOf(address), log);
  }
}
