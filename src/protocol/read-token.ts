/** A cookie as a token that fits into headers and URLs: what those send back who read without a client group. */
import type { Cookie } from './cookie.js';
import { noGroup } from './pull.js';

/** What every cookie without a client group has alike. A token leaves it out. */
const others = { clientGroupID: noGroup, mutations: 0, audit: null };

/** A cookie of the second form has its further fields at the end. */
export function tokenOf(cookie: Cookie): string {
  const { order, snapshot, next, epoch, views, tick, signature, clientGroupID, mutations, audit, ...further } = cookie;
  const fields = [order, snapshot, next, epoch, views, tick, signature];
  return Buffer.from(JSON.stringify('position' in further ? [...fields, further] : fields)).toString('base64url');
}

/**
 * The cookie that a token stands for. It is checked later.
 * @returns null, as for who has no cookie, for an empty token; the token itself if it stands for no cookie
 */
export function cookieIn(token: string): unknown {
  if (token === '') return null;
  try {
    const fields: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (!Array.isArray(fields) || fields.length < 7 || fields.length > 8) return token;
    const [order, snapshot, next, epoch, views, tick, signature, further = {}] = fields as unknown[];
    if (typeof further !== 'object') return token;
    return { ...further, order, snapshot, next, epoch, views, ...others, tick, signature };
  } catch {
    return token;
  }
}

/** Whether a text looks like a token. */
export function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text) && typeof cookieIn(text) === 'object';
}
