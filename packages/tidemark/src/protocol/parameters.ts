/**
 * The parameters of a user's views in a cookie. They are encrypted, because clients need not read them and cookies end
 * up in logs.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import type { Secrets } from './cookie.js';

/** The parameters of each view, as text. */
export type ViewTexts = readonly (readonly (string | null)[])[];

/** The maximum number of bytes of parameters in a cookie; and that of a client that wants instances of views. */
export const maxBytes = 200;
export const maxInstanceBytes: number = 64 * 1024;

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** The first byte of what `deflateSync` returns. */
const compressed = 0x78;

/** Each distinct text, then each view's indexes into these. Most of a user's views have the user ID as a parameter. */
type Packed = [texts: readonly (string | null)[], ...views: number[][]];

/**
 * Encrypts parameters with the secret that signs cookies. For one user, equal parameters give equal results.
 * @param limit the maximum number of bytes before they are compressed
 * @returns undefined if they are too long for a cookie
 */
export function sealParameters(
  views: ViewTexts,
  userID: string,
  [secret]: Secrets,
  limit: number = maxBytes,
): string | undefined {
  const texts = [...new Set(views.flat())];
  const packed: Packed = [texts, ...views.map((own) => own.map((text) => texts.indexOf(text)))];
  const json = Buffer.from(JSON.stringify(packed));
  if (json.length > limit) return undefined;
  const plain = json.length > maxBytes ? deflateSync(json) : json;
  const { key, ivKey } = keysOf(secret, userID);
  // A hash of the plain text, so that no two texts share an IV.
  const iv = createHmac('sha256', ivKey).update(plain).digest().subarray(0, ivBytes);
  const encrypting = createCipheriv(cipher, key, iv);
  return Buffer.concat([iv, encrypting.update(plain), encrypting.final(), encrypting.getAuthTag()]).toString(
    'base64url',
  );
}

/** Decrypts parameters. Returns undefined if they were not encrypted for this user with one of the secrets. */
export function openParameters(sealed: string, userID: string, secrets: Secrets): ViewTexts | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  for (const secret of secrets) {
    const plain = decrypted(bytes, keysOf(secret, userID).key);
    if (plain === undefined) continue;
    const [texts, ...views] = JSON.parse(jsonIn(plain)) as Packed;
    return views.map((indexes) => indexes.map((index) => texts[index]!));
  }
  return undefined;
}

/** Compressed parameters begin with another byte than JSON does. */
function jsonIn(plain: Buffer): string {
  return (plain[0] === compressed ? inflateSync(plain) : plain).toString();
}

function decrypted(bytes: Buffer, key: Buffer): Buffer | undefined {
  const end = bytes.length - tagBytes;
  if (end < ivBytes) return undefined;
  const decrypting = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  try {
    decrypting.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decrypting.update(bytes.subarray(ivBytes, end)), decrypting.final()]);
  } catch {
    return undefined;
  }
}

/** Derives keys that differ from those of other users and from the key that signs cookies. */
function keysOf(secret: string, userID: string): { readonly key: Buffer; readonly ivKey: Buffer } {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', infoOf(userID), 2 * keyBytes));
  return { key: derived.subarray(0, keyBytes), ivKey: derived.subarray(keyBytes) };
}

/** Hashes the user ID, because HKDF takes at most 1024 bytes of info. */
function infoOf(userID: string): Buffer {
  return createHmac('sha256', 'tidemark parameters').update(userID).digest();
}
