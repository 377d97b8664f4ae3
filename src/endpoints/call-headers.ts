import { Problem } from '../errors.js';

const maxKeyLength = 255;

/** The key as a string of a structured header, or as bare characters, which many clients send. */
const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const bare = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

/**
 * The request's `Idempotency-Key`; undefined if it has none.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07
 * @throws Problem `malformed-request`
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const value = headers.get('Idempotency-Key')?.trim();
  if (value === undefined) return undefined;
  const key = quoted.exec(value)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? bare.exec(value)?.[0] ?? '';
  if (key === '' || key.length > maxKeyLength) {
    throw new Problem('malformed-request', `Idempotency-Key must be a string of 1 to ${maxKeyLength} ASCII characters`);
  }
  return key;
}

/**
 * Whether the request asks to be rolled back, with `Prefer: tx=rollback`. Other preferences are ignored.
 * @see https://www.rfc-editor.org/rfc/rfc7240
 */
export function prefersRollback(headers: Headers): boolean {
  const preferences = headers.get('Prefer')?.split(',') ?? [];
  return preferences.some((preference) => /^\s*tx\s*=\s*"?rollback"?\s*(;|$)/i.test(preference));
}
