/** The keys of an issuer, from its JSON Web Key Set. */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { Problem } from '../errors.js';
import { settlesWithin } from '../limits/deadline.js';

const timeoutMs = 5_000;
/** After this time, the keys are fetched again: the issuer may have withdrawn one. */
const refreshMs = 10 * 60_000;
/** After this time, they may be fetched again for a token of an unknown key, or because the last refresh failed. */
const cooldownMs = 30_000;
/** No two fetches are less than this time apart. */
const pauseMs = 5_000;
/** How long tokens of known keys wait while the keys are fetched again: their server may hang. */
const patienceMs = 1_000;

/**
 * Looks up keys at a URL, whose redirects are not followed. Keys that have been fetched serve as long as it cannot be
 * reached.
 *
 * The returned function throws a Problem, `unavailable`, if the URL cannot be reached and the key is not known: to
 * say that the token is wrong would log its user out.
 */
export function remoteKeys(url: URL): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: timeoutMs,
    cooldownDuration: cooldownMs,
    // Expired keys would be useless during an outage.
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
      refreshed = settlesWithin(patienceMs, reloaded);
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
