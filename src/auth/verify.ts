/** Verifies JSON Web Tokens. */
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { BoundedMap } from '../bounded-map.js';
import { Problem } from '../errors.js';
import type { toKey } from './token-key.js';

/** What a token says, once it is verified. */
export interface Verified {
  readonly claims: Readonly<JWTPayload>;
  readonly expiresAt: Date;
}

/** How many verified tokens are remembered, and how long one may be, in characters: verifying takes 150 µs. */
const keptTokens = 10_000;
const keptLength = 4_096;
/** For how long: a key that its issuer has withdrawn must not serve much longer. */
const keptMs = 60_000;
/** The last moment that a `Date` can hold. */
const lastMs = 8.64e15;

/**
 * Creates a function that verifies tokens.
 *
 * It throws a Problem, `unauthenticated`, that says why a token is refused, and what the key's lookup throws.
 */
export function createVerify(
  key: ReturnType<typeof toKey>,
  options: JWTVerifyOptions & { readonly clockTolerance: number },
): (token: string) => Promise<Verified> {
  const kept = new BoundedMap<string, Verified & { readonly untilMs: number }>(keptTokens);
  return async (token) => {
    const known = kept.get(token);
    if (known && Date.now() < known.untilMs) return known;
    const { payload: claims } = await jwtVerify(token, key, { ...options, requiredClaims: ['exp'] }).catch(refuse);
    const expiresMs = Math.min((claims.exp! + options.clockTolerance) * 1000, lastMs);
    const verified = {
      claims,
      expiresAt: new Date(expiresMs),
      untilMs: Math.min(expiresMs, Date.now() + keptMs),
    };
    if (token.length <= keptLength) kept.set(token, verified);
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
