/** How the limits of users and of addresses apply to requests. */
import type { UserContext } from './context.js';
import type { Hooks } from './http/app.js';
import type { Authenticate } from './http/identify.js';
import { counting, isPrivate, networkOf, type RateOptions } from './limits/rates.js';
import { Rounds } from './limits/rounds.js';
import type { Logger } from './log.js';

const perUserDefault = 10_000;
const perAddressDefault = 20_000;

/** Makes an `authenticate` that does the same, and limits the requests of each user. */
export type LimitUsers<Context extends UserContext> = (authenticate: Authenticate<Context>) => Authenticate<Context>;

/**
 * Counts the requests of each user together, whatever says who they are. Those that are not refused begin a few at a
 * time.
 */
export function limitUsers<Context extends UserContext>(
  { perUser = perUserDefault }: RateOptions,
  log: Logger,
): LimitUsers<Context> {
  const count = counting(perUser, 'This user sends too many requests; try again later');
  const rounds = new Rounds();
  return (authenticate) => async (request) => {
    const context = await authenticate(request);
    if (context) {
      await count?.(context.userID, log);
      await rounds.begin(context.userID);
    }
    return context;
  };
}

/** Counts the requests from each address; undefined if they are not limited. */
export function limitAddresses({ perAddress = perAddressDefault, address: addressOf }: RateOptions): Hooks['admit'] {
  const count = counting(perAddress, 'Too many requests come from this address; try again later');
  if (!count) return undefined;
  return async ({ request, log }, connected) => {
    const address = addressOf ? addressOf(request) : connected;
    const isLimited = address !== undefined && (addressOf !== undefined || !isPrivate(address));
    if (isLimited) await count(addressOf ? address : networkOf(address), log);
  };
}
