/** A cookie as a token that fits into headers and URLs: what clients without a client group send back. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Cookie } from './cookie.js';
import { noGroup } from './pull.js';

/** The fields that all cookies without a client group have alike. A token leaves them out. */
const others = { clientGroupID: noGroup, mutations: 0, audit: null };

/** A proxy may have only 4 kB for all headers of a response. */
const maxTokenLength = 3_500;

/** In bytes: more than any token of that length should contain. */
const maxInflated = 64 * 1024;

/** The cookie of an answer whose token would be too long. It stands for no state: all rows come after it. */
export const noState = 'none';

/**
 * The token of a cookie. Its further fields are at the end.
 * @returns undefined if it would be too long, because thousands of transactions are in progress
 */
export function tokenOf(cookie: Cookie): string | undefined {
  const { order, snapshot, next, epoch, views, tick, signature, clientGroupID, mutations, audit, ...further } = cookie;
  const text = JSON.stringify([order, toDistances(snapshot), next, epoch, views, tick, signature, further]);
  const token = deflateRawSync(text).toString('base64url');
  return token.length <= maxTokenLength ? token : undefined;
}

/**
 * The cookie that a token stands for. It is checked later.
 * @returns null, as for who has no cookie, for an empty token; the token itself if it stands for no cookie
 */
export function cookieIn(token: string): unknown {
  if (token === '') return null;
  try {
    const inflated = inflateRawSync(Buffer.from(token, 'base64url'), { maxOutputLength: maxInflated });
    const fields: unknown = JSON.parse(inflated.toString());
    if (!Array.isArray(fields) || fields.length !== 8) return token;
    const [order, distances, next, epoch, views, tick, signature, further] = fields as unknown[];
    if (typeof further !== 'object') return token;
    const snapshot = fromDistances(String(distances));
    return { ...further, order, snapshot, next, epoch, views, ...others, tick, signature };
  } catch {
    return token;
  }
}

/** Whether a text looks like a token. */
export function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text) && typeof cookieIn(text) === 'object';
}

/** Replaces the transactions that a snapshot lists by the distance of each from the one before, which compresses well. */
function toDistances(snapshot: string): string {
  return mapList(snapshot, (xids, xmin) => xids.map((xid, i) => xid - (xids[i - 1] ?? xmin)));
}

/** The reverse of `toDistances`. */
function fromDistances(snapshot: string): string {
  return mapList(snapshot, (distances, xmin) => {
    let xid = xmin;
    return distances.map((distance) => (xid += distance));
  });
}

/** Maps the list in the text of a primary's snapshot, if it has one. */
function mapList(snapshot: string, map: (list: bigint[], xmin: bigint) => bigint[]): string {
  const [, bounds, xmin, list] = /^((\d+):\d+:)([\d,]+)$/.exec(snapshot) ?? [];
  return list === undefined ? snapshot : `${bounds}${map(list.split(',').map(BigInt), BigInt(xmin!)).join()}`;
}
