/** Read tokens: cookies that fit into headers and URLs. Clients without a client group send them back. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Cookie } from './cookie.js';
import { noGroup } from './pull.js';

/** The fields that are the same in all cookies without a client group. A token omits them. */
const groupFields = { clientGroupID: noGroup, mutations: 0, consistencyCheck: null };

/** A proxy may allow only 4 kB for all headers of a response. */
const maxTokenLength = 3_500;

/** In bytes. No token of `maxTokenLength` should inflate to more. */
const maxInflated = 64 * 1024;

/** Replaces a token that would be too long. It stands for no state, so the next response has all rows. */
export const noState = 'none';

/**
 * Encodes a cookie as a token. The fields that are not listed by position come last, as an object.
 * @returns undefined if the token would be too long, because thousands of transactions are in progress
 */
export function tokenOf(cookie: Cookie): string | undefined {
  const {
    order,
    snapshot,
    next,
    databaseID,
    views,
    heartbeat,
    signature,
    clientGroupID,
    mutations,
    consistencyCheck,
    ...extraFields
  } = cookie;
  const text = JSON.stringify([
    order,
    toDistances(snapshot),
    next,
    databaseID,
    views,
    heartbeat,
    signature,
    extraFields,
  ]);
  const token = deflateRawSync(text).toString('base64url');
  return token.length <= maxTokenLength ? token : undefined;
}

/**
 * Decodes the cookie that a token stands for, but does not check it.
 * @returns null for an empty token, as for a caller without a cookie; the token itself if it stands for no cookie
 */
export function cookieIn(token: string): unknown {
  if (token === '') return null;
  try {
    const inflated = inflateRawSync(Buffer.from(token, 'base64url'), { maxOutputLength: maxInflated });
    const fields: unknown = JSON.parse(inflated.toString());
    if (!Array.isArray(fields) || fields.length !== 8) return token;
    const [order, distances, next, databaseID, views, heartbeat, signature, extraFields] = fields as unknown[];
    if (typeof extraFields !== 'object') return token;
    const snapshot = fromDistances(String(distances));
    return { ...extraFields, order, snapshot, next, databaseID, views, ...groupFields, heartbeat, signature };
  } catch {
    return token;
  }
}

/** True if a text looks like a token. */
export function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text) && typeof cookieIn(text) === 'object';
}

/** Replaces the transaction IDs in a snapshot by each one's distance from the previous one, which compresses well. */
function toDistances(snapshot: string): string {
  return mapList(snapshot, (xids, xmin) => xids.map((xid, i) => xid - (xids[i - 1] ?? xmin)));
}

/** Reverses `toDistances`. */
function fromDistances(snapshot: string): string {
  return mapList(snapshot, (distances, xmin) => {
    let xid = xmin;
    return distances.map((distance) => (xid += distance));
  });
}

/** Maps the list of transaction IDs in the text of a primary's snapshot, if it has one. */
function mapList(snapshot: string, map: (list: bigint[], xmin: bigint) => bigint[]): string {
  const [, bounds, xmin, list] = /^((\d+):\d+:)([\d,]+)$/.exec(snapshot) ?? [];
  return list === undefined ? snapshot : `${bounds}${map(list.split(',').map(BigInt), BigInt(xmin!)).join()}`;
}
