/** Verifies JSON Web Tokens. */
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { BoundedMap } from '../bounded-map.js';
import { Problem } from '../errors.js';
import type { toKey } from './token-key.js';

/** The content of a verified token. */
export interface VerifiedToken {
  readonly claims: Readonly<JWTPayload>;
  readonly expiresAt: Date;
}

/** The maximum number of cached tokens, and the maximum length of each in characters. Verifying takes 150 µs. */
const maxCachedTokens = 10_000;
const maxCachedLength = 4_096;
/** The maximum time that a token is cached: a key that its issuer has withdrawn must not serve much longer. */
const maxCacheMs = 60_000;
/** The latest time that a `Date` can represent. */
const lastMs = 8.64e15;

/**
 * Creates a function that verifies tokens.
 *
 * To refuse a token, it throws the Problem `unauthenticated` with the reason. It passes on errors of the key lookup.
 */
export function createVerify(
  key: ReturnType<typeof toKey>,
  options: JWTVerifyOptions & { readonly clockTolerance: number },
): (token: string) => Promise<VerifiedToken> {
  const cache = new BoundedMap<string, VerifiedToken & { readonly untilMs: number }>(maxCachedTokens);
  return async (token) => {
    const cachedToken = cache.get(token);
    if (cachedToken && Date.now() < cachedToken.untilMs) return cachedToken;
    const { payload: claims } = await jwtVerify(token, key, { ...options, requiredClaims: ['exp'] }).catch(refuse);
    const expiresMs = Math.min((claims.exp! + options.clockTolerance) * 1000, lastMs);
    const verified = {
      claims,
      expiresAt: new Date(expiresMs),
      untilMs: Math.min(expiresMs, Date.now() + maxCacheMs),
    };
    if (token.length <= maxCachedLength) cache.set(token, verified);
    return verified;
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof errors.JOSEError)) throw error;
  throw new Problem('unauthenticated', reasonOf(error), {
    cause: error,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return `The token's claim "${error.claim}" is missing, or is not what this server requires`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed by an algorithm that is not accepted here';
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'The token is malformed';
  return 'The token is not signed with a key that this server knows';
}
