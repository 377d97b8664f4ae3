/**
 * The parameters of a user's views, as a cookie holds them: encrypted, since clients need not read them, and cookies end up
 * in logs.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { Secrets } from './cookie.js';

/** For each view, its parameters as text. */
export type ViewTexts = readonly (readonly (string | null)[])[];

/** The most bytes of parameters that a cookie holds. */
const mostBytes = 200;

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** Each text once, then for each view which of them it has: most views of a user have the user's ID as a parameter. */
type Packed = [texts: readonly (string | null)[], ...views: number[][]];

/**
 * Encrypts parameters with the secret that signs. The same ones look the same, for one user.
 * @returns undefined if they are too long for a cookie
 */
export function sealParameters(views: ViewTexts, userID: string, [secret]: Secrets): string | undefined {
  const texts = [...new Set(views.flat())];
  const packed: Packed = [texts, ...views.map((own) => own.map((text) => texts.indexOf(text)))];
  const plain = Buffer.from(JSON.stringify(packed));
  if (plain.length > mostBytes) return undefined;
  const { key, ivKey } = keysOf(secret, userID);
  // A hash of what is encrypted: no two texts share one.
  const iv = createHmac('sha256', ivKey).update(plain).digest().subarray(0, ivBytes);
  const encrypting = createCipheriv(cipher, key, iv);
  return Buffer.concat([iv, encrypting.update(plain), encrypting.final(), encrypting.getAuthTag()]).toString(
    'base64url',
  );
}

/** Decrypts parameters; undefined if they were not encrypted for this user with one of the secrets. */
export function openParameters(sealed: string, userID: string, secrets: Secrets): ViewTexts | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  for (const secret of secrets) {
    const plain = decrypted(bytes, keysOf(secret, userID).key);
    if (plain === undefined) continue;
    const [texts, ...views] = JSON.parse(plain) as Packed;
    return views.map((places) => places.map((place) => texts[place]!));
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

/** Others than those of other users, and than what signs cookies. */
function keysOf(secret: string, userID: string): { readonly key: Buffer; readonly ivKey: Buffer } {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', infoOf(userID), 2 * keyBytes));
  return { key: derived.subarray(0, keyBytes), ivKey: derived.subarray(keyBytes) };
}

/** HKDF takes at most 1024 bytes of it, and a user's ID may be longer. */
function infoOf(userID: string): Buffer {
  return createHmac('sha256', 'tidemark parameters').update(userID).digest();
}
