/**
 * The parameters of a user's views in a cookie. They are encrypted, because clients need not read them and cookies end
 * up in logs.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { Secrets } from './cookie.js';

/** The parameters of each view, as text. */
export type ViewTexts = readonly (readonly (string | null)[])[];

/** The maximum number of bytes of parameters in a cookie. */
const maxBytes = 200;

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** Each distinct text, then each view's indexes into these. Most of a user's views have the user ID as a parameter. */
type Packed = [texts: readonly (string | null)[], ...views: number[][]];

/**
 * Encrypts parameters with the secret that signs cookies. For one user, equal parameters give equal results.
 * @returns undefined if they are too long for a cookie
 */
export function sealParameters(views: ViewTexts, userID: string, [secret]: Secrets): string | undefined {
  const texts = [...new Set(views.flat())];
  const packed: Packed = [texts, ...views.map((own) => own.map((text) => texts.indexOf(text)))];
  const plain = Buffer.from(JSON.stringify(packed));
  if (plain.length > maxBytes) return undefined;
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
    const [texts, ...views] = JSON.parse(plain) as Packed;
    return views.map((indexes) => indexes.map((index) => texts[index]!));
  }
  return undefined;
}

function decrypted(bytes: Buffer, key: Buffer): string | undefined {
  const end = bytes.length - tagBytes;
  if (end < ivBytes) return undefined;
  const decrypting = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  try {
    decrypting.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decrypting.update(bytes.subarray(ivBytes, end)), decrypting.final()]).toString();
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
