/** The keys that verify tokens. Checked when the server starts, so that no token can choose how it is verified. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { SetupError } from '../errors.js';
import { remoteKeys } from './remote-keys.js';

/** The key that verifies tokens. */
export type TokenKey =
  /** A secret that the issuer and this server share. */
  | { readonly secret: string | Uint8Array }
  /** The issuer's public key or certificate, in PEM. */
  | { readonly publicKey: string }
  /** The URL of the issuer's JSON Web Key Set; https, except on this machine. */
  | { readonly jwksURL: string | URL };

/** The minimum length of each algorithm's secret, in bytes: that of its hash (RFC 7518, section 3.2). */
const secretLengths = { HS256: 32, HS384: 48, HS512: 64 };
/** The key type or the curve of each public-key algorithm. */
const keyTypes = {
  RS256: 'rsa',
  RS384: 'rsa',
  RS512: 'rsa',
  PS256: 'rsa',
  PS384: 'rsa',
  PS512: 'rsa',
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
  EdDSA: 'ed25519',
  Ed25519: 'ed25519',
};
const minRSABits = 2048;

/** An algorithm that signs tokens. */
export type TokenAlgorithm = keyof typeof secretLengths | keyof typeof keyTypes;

/**
 * Converts an option to the key, or the key lookup, that verifies tokens.
 * @throws SetupError if the key cannot be used, or does not fit each of the algorithms
 */
export function toKey(key: TokenKey, algorithms: readonly TokenAlgorithm[]): KeyObject | JWTVerifyGetKey {
  if (algorithms.length === 0) throw new SetupError('The option `algorithms` must name what tokens are signed with.');
  const isSecret = 'secret' in key;
  const fitting = Object.keys(isSecret ? secretLengths : keyTypes);
  for (const algorithm of algorithms) {
    if (fitting.includes(algorithm)) continue;
    const kind = isSecret ? 'a secret' : 'a public key';
    throw new SetupError(`Tokens cannot be verified by ${algorithm} with ${kind}: use ${fitting.join(', ')}.`);
  }
  if (isSecret) return toSecret(key.secret, algorithms as (keyof typeof secretLengths)[]);
  if ('publicKey' in key) return toPublicKey(key.publicKey, algorithms as (keyof typeof keyTypes)[]);
  return remoteKeys(toJWKSURL(key.jwksURL));
}

function toSecret(secret: string | Uint8Array, algorithms: readonly (keyof typeof secretLengths)[]): KeyObject {
  // The secret may be undefined, if its environment variable is not set.
  const bytes = Buffer.from(secret ?? '');
  if (bytes.includes('-----BEGIN ')) throw new SetupError('The secret is a key in PEM: give it as `publicKey`.');
  const minLength = Math.max(...algorithms.map((algorithm) => secretLengths[algorithm]));
  if (bytes.length < minLength) {
    throw new SetupError(
      `The secret has ${bytes.length} bytes, and ${algorithms.join(', ')} needs at least ${minLength}.`,
    );
  }
  return createSecretKey(bytes);
}

function toPublicKey(pem: string, algorithms: readonly (keyof typeof keyTypes)[]): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw new SetupError('The public key is not a key or a certificate in PEM.', { cause });
  }
  if (pem.includes('PRIVATE KEY')) throw new SetupError('The public key is a private one: only the issuer needs that.');
  const { asymmetricKeyType = '', asymmetricKeyDetails: { namedCurve, modulusLength = minRSABits } = {} } = key;
  const type = namedCurve ?? asymmetricKeyType;
  for (const algorithm of algorithms) {
    if (keyTypes[algorithm] === type) continue;
    throw new SetupError(`${algorithm} needs a public key of the type ${keyTypes[algorithm]}; this one is ${type}.`);
  }
  if (modulusLength < minRSABits) {
    throw new SetupError(`The public key has ${modulusLength} bits, and RSA needs at least ${minRSABits}.`);
  }
  return key;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function toJWKSURL(address: string | URL): URL {
  if (!URL.canParse(`${address}`)) throw new SetupError('The option `jwksURL` is not a URL.');
  const url = new URL(address);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))) return url;
  throw new SetupError('The option `jwksURL` must be an https address, or anyone on the way could change the keys.');
}
