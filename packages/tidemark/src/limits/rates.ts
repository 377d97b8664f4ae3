/** Limits the rate of requests from one user and from one address. */
import { BlockList, isIPv6 } from 'node:net';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { BoundedMap } from '../bounded-map.js';
import { Problem } from '../errors.js';
import { describeError, type Logger } from '../log.js';

/** A limiter of the library `rate-limiter-flexible`, which also has limiters that share counts in Postgres or Redis. */
export interface RateLimiter {
  consume(key: string): Promise<unknown>;
}

/** The number of requests in ten seconds, or your own limiter; false for no limit. */
export type Rate = number | RateLimiter | false;

/** The limits on the rate of requests. */
export interface RateOptions {
  /** From one user. Default 10,000. */
  readonly perUser?: Rate | undefined;
  /** From one address, for all users. Exempts private networks, because proxies have such addresses. Default 20,000. */
  readonly perAddress?: Rate | undefined;
  /**
   * Returns the address that a request comes from; undefined for no limit. Default: that of the connection. Behind a
   * proxy, read the header that your proxy sets.
   */
  readonly address?: ((request: Request) => string | undefined) | undefined;
}

const seconds = 10;

/** Counts the requests of each user or from each address. */
export class RequestCounter {
  readonly #limiter: RateLimiter;
  readonly #refusal: string;

  /** @param refusal the message for refused requests */
  constructor(rate: Exclude<Rate, false>, refusal: string) {
    this.#limiter = typeof rate === 'number' ? new RateLimiterMemory({ points: rate, duration: seconds }) : rate;
    this.#refusal = refusal;
  }

  /**
   * Counts one request of the user or address that the key names. If the limiter itself fails, the request passes, so
   * that a failing limiter cannot stop the server.
   * @throws Problem `too-many-requests`
   */
  async count(key: string, log: Logger): Promise<void> {
    try {
      await this.#limiter.consume(key);
    } catch (error) {
      if (!isRefusal(error)) {
        return log.warn({ error: describeError(error) }, 'Requests cannot be counted; they are not limited');
      }
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new Problem('too-many-requests', this.#refusal, { headers: { 'Retry-After': String(retryAfter) } });
    }
  }
}

/** Avoids `instanceof`, because the application may have its own copy of the library. */
function isRefusal(error: unknown): error is RateLimiterRes {
  return typeof error === 'object' && error !== null && !(error instanceof Error) && 'msBeforeNext' in error;
}

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4');
}
privateAddresses.addAddress('::1', 'ipv6');
privateAddresses.addSubnet('fc00::', 7, 'ipv6');
privateAddresses.addSubnet('fe80::', 10, 'ipv6');

/** Keeps the results of `isPrivate`, because a block list takes longer than the rest of a request's admission. */
const knownAddresses = new BoundedMap<string, boolean>(10_000);

/** True if an address is in a private network: a request from it comes from a proxy, or from nearby. */
export function isPrivate(address: string): boolean {
  const known = knownAddresses.get(address);
  if (known !== undefined) return known;
  const isInBlock = privateAddresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  knownAddresses.set(address, isInBlock);
  return isInBlock;
}

/**
 * Returns what counts as one address. For IPv6, this is the 64-bit network, in which one computer can have any number
 * of addresses.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', ending] = plain.split('::');
  const [left, right] = [head, ending ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = ending === undefined ? 0 : 8 - left!.length - right!.length;
  return [...left!, ...Array<string>(zeros).fill('0'), ...right!].slice(0, 4).join(':');
}
