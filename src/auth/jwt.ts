/** Callers with JSON Web Tokens. */
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
  /** What the tokens are signed with. */
  readonly key: TokenKey;
  /** How they may be signed, whatever they say themselves: HS256 and the like with a secret, others with keys. */
  readonly algorithms: readonly TokenAlgorithm[];
  /** Who must have issued them, as their claim `iss` says. Default: anyone who has the key. */
  readonly issuer?: string | readonly string[] | undefined;
  /** Whom they must be meant for, one of them, as their claim `aud` says. Default: anyone. */
  readonly audience?: string | readonly string[] | undefined;
  /** By how many seconds the issuer's clock may differ. Default 0. */
  readonly clockToleranceSeconds?: number | undefined;
  /**
   * Makes the caller's context of a token's claims; null for a 401 response. `expiresAt` is filled in from `exp` if it
   * is missing. Called for every request. Default: the claim `sub` is the user's ID.
   */
  readonly context?: ((claims: Claims) => Context | null | Promise<Context | null>) | undefined;
  /** Who sends a request that has no `Authorization`. Default: nobody; such a request is a 401. */
  readonly anonymous?: ((request: Request) => Context | null | Promise<Context | null>) | undefined;
}

/** Makes the option `context` required for a context with more fields than a token is known to have. */
export type WithClaims<Context extends UserContext> = UserContext extends Context
  ? unknown
  : { readonly context: (claims: Claims) => Context | null | Promise<Context | null> };

const bearer = /^Bearer +(\S+)$/i;

/**
 * Creates an `authenticate` for callers that send `Authorization: Bearer` with a JSON Web Token. The token must have
 * the claim `exp`. For a token that is refused, it throws a Problem, `unauthenticated`, that says why; and
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
    const made = await toContext(claims);
    return made && made.expiresAt === undefined ? { ...made, expiresAt } : made;
  };
}

function subjectOf({ sub }: Claims): UserContext | null {
  return isUserID(sub) ? { userID: sub } : null;
}
