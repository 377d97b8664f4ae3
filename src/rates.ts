/** Applies the rate limits of users and of addresses to requests. */
import type { Hooks } from './http/app.js';
import { PerTickLimiter } from './limits/per-tick-limiter.js';
import { createRequestCounter, isPrivate, networkOf, type RateOptions } from './limits/rates.js';

const perUserDefault = 10_000;
const perAddressDefault = 20_000;

/** Counts a user's requests together, however they are authenticated. Starts the accepted ones a few at a time. */
export function limitUsers({ perUser = perUserDefault }: RateOptions): NonNullable<Hooks['admitUser']> {
  const count = createRequestCounter(perUser, 'This user sends too many requests; try again later');
  const perTickLimiter = new PerTickLimiter();
  return async ({ userID }, log) => {
    await count?.(userID, log);
    await perTickLimiter.begin(userID);
  };
}

/** Counts the requests from each address. Returns undefined if addresses have no limit. */
export function limitAddresses({ perAddress = perAddressDefault, address: addressOf }: RateOptions): Hooks['admit'] {
  const count = createRequestCounter(perAddress, 'Too many requests come from this address; try again later');
  if (!count) return undefined;
  return async ({ request, log }, connected) => {
    const address = addressOf ? addressOf(request) : connected;
    const isLimited = address !== undefined && (addressOf !== undefined || !isPrivate(address));
    if (isLimited) await count(addressOf ? address : networkOf(address), log);
  };
}
