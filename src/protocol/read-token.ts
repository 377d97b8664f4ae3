/** A cookie as a token that fits into headers and URLs: what those send back who read without a client group. */
import type { Cookie } from './cookie.js';
import { noGroup } from './pull.js';

/** What a token leaves out is the same in all cookies without a client group. */
export function tokenOf({ order, snapshot, next, epoch, views, tick, signature }: Cookie): string {
  return Buffer.from(JSON.stringify([order, snapshot, next, epoch, views, tick, signature])).toString('base64url');
}

/**
 * The cookie that a token stands for. It is checked later.
 * @returns null, as for who has no cookie, for an empty token; the token itself if it stands for no cookie
 */
export function cookieIn(token: string): unknown {
  if (token === '') return null;
  try {
    const fields: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (!Array.isArray(fields) || fields.length !== 7) return token;
    const [order, snapshot, next, epoch, views, tick, signature] = fields as unknown[];
    const others = { clientGroupID: noGroup, mutations: 0, audit: null };
    return { order, snapshot, next, epoch, views, ...others, tick, signature };
  } catch {
    return token;
  }
}

/** Whether a text looks like a token. */
export function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text) && typeof cookieIn(text) === 'object';
}
