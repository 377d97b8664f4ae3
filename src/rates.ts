/** How the limits of users and of addresses apply to requests. */
import type { Hooks } from './http/app.js';
import { counting, isPrivate, networkOf, type RateOptions } from './limits/rates.js';
import { Rounds } from './limits/rounds.js';

const perUserDefault = 10_000;
const perAddressDefault = 20_000;

/**
 * Counts the requests of each user together, whatever says who they are. Those that are not refused begin a few at a
 * time.
 */
export function limitUsers({ perUser = perUserDefault }: RateOptions): NonNullable<Hooks['admitUser']> {
  const count = counting(perUser, 'This user sends too many requests; try again later');
  const rounds = new Rounds();
  return async ({ userID }, log) => {
    await count?.(userID, log);
    await rounds.begin(userID);
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
