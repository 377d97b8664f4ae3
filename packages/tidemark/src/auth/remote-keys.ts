/** Fetches an issuer's keys from its JSON Web Key Set. */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { Problem } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';

const timeoutMs = 5_000;
/** The time after which the keys are fetched again, because the issuer may have withdrawn one. */
const refreshMs = 10 * 60_000;
/** The time after which a token with an unknown key, or a failed refresh, can cause another fetch. */
const cooldownMs = 30_000;
/** The minimum time between two fetches. */
const pauseMs = 5_000;
/** The longest wait for a refresh by tokens with known keys, because the key server may hang. */
const maxWaitMs = 1_000;

/**
 * Looks up keys at a URL, without following redirects. Fetched keys stay valid while the URL cannot be reached.
 *
 * The returned function throws the Problem `unavailable` if the URL cannot be reached and the key is unknown. An error
 * about the token would log its user out.
 */
export function remoteKeys(url: URL): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: timeoutMs,
    cooldownDuration: cooldownMs,
    // Keys that expire would be useless during an outage.
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: async (address, init) => {
      if (Date.now() < fetchedAt + pauseMs) throw new Error('The keys were asked for a moment ago');
      fetchedAt = Date.now();
      return fetch(address, init);
    },
  });
  let refreshAt = Date.now() + refreshMs;
  let refreshed: Promise<unknown> = Promise.resolve();
  const refresh = () => {
    if (Date.now() >= refreshAt) {
      refreshAt = Date.now() + cooldownMs;
      const reloaded = keys.reload().then(
        () => {
          refreshAt = Date.now() + refreshMs;
        },
        () => {},
      );
      refreshed = settlesWithin(maxWaitMs, reloaded);
    }
    return refreshed;
  };
  return async (header, token) => {
    await refresh();
    try {
      return await keys(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw new Problem('unavailable', 'The keys that tokens are signed with cannot be fetched now; try again later', {
        cause: error,
        headers: { 'Retry-After': String(pauseMs / 1000) },
      });
    }
  };
}
