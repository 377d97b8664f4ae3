/** Authenticates callers with JSON Web Tokens. */
import type { JWTPayload } from 'jose';
import type { UserContext } from '../context.js';
import { SetupError } from '../errors.js';
import { type Authenticate, isUserID } from '../http/identify.js';
import { type TokenAlgorithm, type TokenKey, toKey } from './token-key.js';
import { createVerify } from './verify.js';

/** The claims of a token, by name. */
export type Claims = Readonly<JWTPayload>;

/** The options of `jwtAuth`. */
export interface JWTAuthOptions<Context extends UserContext> {
  /** The key that verifies the tokens. */
  readonly key: TokenKey;
  /** The accepted algorithms, whatever a token names: HS256 and the like with a secret, others with public keys. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** The accepted issuers: values of the claim `iss`. Default: any issuer with the key. */
  readonly issuer?: string | readonly string[] | undefined;
  /** The accepted audiences: the claim `aud` must name one of them. Default: any. */
  readonly audience?: string | readonly string[] | undefined;
  /** The number of seconds by which the issuer's clock may differ. Default 0. */
  readonly clockToleranceSeconds?: number | undefined;
  /**
   * Returns the caller's context for a token's claims; null for a 401 response. A missing `expiresAt` is set from
   * `exp`. Called for every request. Default: the claim `sub` is the user's ID.
   */
  readonly context?: ((claims: Claims) => Context | null | Promise<Context | null>) | undefined;
  /** Returns the context of a request without `Authorization`. Default: null, so the response is a 401. */
  readonly anonymous?: ((request: Request) => Context | null | Promise<Context | null>) | undefined;
}

/** Makes the option `context` required if the context has required fields that `UserContext` lacks. */
export type WithClaims<Context extends UserContext> = UserContext extends Context
  ? unknown
  : { readonly context: (claims: Claims) => Context | null | Promise<Context | null> };

const bearer = /^Bearer +(\S+)$/i;

/**
 * Creates an `authenticate` for callers that send `Authorization: Bearer` with a JSON Web Token. The token must have
 * the claim `exp`. It throws the Problem `unauthenticated`, with the reason, for a token that it refuses, and
 * `unavailable` while the keys cannot be fetched.
 *
 * @throws SetupError if the key cannot be used, or does not fit the algorithms
 */
export function jwtAuth<Context extends UserContext = UserContext>(
  options: JWTAuthOptions<Context> & WithClaims<Context>,
): Authenticate<Context> {
  const { key, algorithms, issuer, audience, clockToleranceSeconds = 0, context, anonymous } = options;
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds < Number.POSITIVE_INFINITY)) {
    throw new SetupError('The option `clockToleranceSeconds` must be a number of seconds.');
  }
  const verify = createVerify(toKey(key, algorithms), {
    algorithms: [...algorithms],
    clockTolerance: clockToleranceSeconds,
    ...(issuer !== undefined && { issuer: [issuer].flat() }),
    ...(audience !== undefined && { audience: [audience].flat() }),
  });
  const toContext = context ?? (subjectOf as (claims: Claims) => Context | null);
  return async (request) => {
    const authorization = request.headers.get('Authorization');
    // Clients without a token may send the header without a value.
    if (!authorization) return (await anonymous?.(request)) ?? null;
    const token = bearer.exec(authorization)?.[1];
    if (token === undefined) return null;
    const { claims, expiresAt } = await verify(token);
    const result = await toContext(claims);
    return result && result.expiresAt === undefined ? { ...result, expiresAt } : result;
  };
}

function subjectOf({ sub }: Claims): UserContext | null {
  return isUserID(sub) ? { userID: sub } : null;
}
