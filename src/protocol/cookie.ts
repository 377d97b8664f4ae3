/** The cookie: a Postgres snapshot, what it is a snapshot of, and an order for the client to compare. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { parseSnapshot, parseXid, type Snapshot } from './snapshot.js';

/** The client compares orders: two numbers by value, anything else as strings by UTF-16 unit. */
export type Order = number | string;

export interface Cookie {
  readonly order: Order;
  /** Which transactions the client has seen. */
  readonly snapshot: string;
  /**
   * A transaction ID. In the write-ahead log, the transactions from here on end behind all that the snapshot has seen.
   */
  readonly next: string;
  /** Which history of which database the snapshot belongs to. */
  readonly epoch: string;
  /** Which user's views, in which form, the client holds. */
  readonly views: string;
  /** The client group that was told its mutation IDs as of the snapshot. */
  readonly clientGroupID: string;
  /**
   * The sum of that group's lastMutationIDs then. It only grows, unless the database has lost what clients were told
   * of.
   */
  readonly mutations: number;
  /** The newest tick of the database below the snapshot's xmin: a witness of its history. Null where there was none. */
  readonly tick: string | null;
  /** What a sampled client should hold; see `Audit`. Null for all others. */
  readonly audit: string | null;
  readonly signature: string;
}

/** Of a `Cookie`. */
const fieldCount = 10;

export interface OpenedCookie extends Cookie {
  readonly parsedSnapshot: Snapshot;
  readonly parsedNext: bigint;
}

export function sealCookie(fields: Omit<Cookie, 'signature'>, secret: string): Cookie {
  const { order, snapshot, next, epoch, views, clientGroupID, mutations, tick, audit } = fields;
  return {
    order,
    snapshot,
    next,
    epoch,
    views,
    clientGroupID,
    mutations,
    tick,
    audit,
    signature: sign(fields, secret),
  };
}

/** @returns undefined for any JSON value that is not a cookie sealed with this secret. */
export function openCookie(value: unknown, secret: string): OpenedCookie | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // Anything added to a cookie would be repeated unsigned in the answer to a pull that finds no change.
  if (Object.keys(value).length !== fieldCount) return undefined;
  const { order, snapshot, next, epoch, views, clientGroupID, mutations, tick, audit, signature } = value as Record<
    string,
    unknown
  >;
  if (typeof order !== 'number' && typeof order !== 'string') return undefined;
  if (
    typeof snapshot !== 'string' ||
    typeof next !== 'string' ||
    typeof epoch !== 'string' ||
    typeof views !== 'string' ||
    typeof clientGroupID !== 'string' ||
    typeof mutations !== 'number' ||
    (typeof tick !== 'string' && tick !== null) ||
    (typeof audit !== 'string' && audit !== null) ||
    typeof signature !== 'string'
  ) {
    return undefined;
  }
  const fields = { order, snapshot, next, epoch, views, clientGroupID, mutations, tick, audit };
  const expected = Buffer.from(sign(fields, secret));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const parsedSnapshot = parseSnapshot(snapshot);
  const parsedNext = parseXid(next);
  if (!parsedSnapshot || parsedNext === undefined || parsedNext < parsedSnapshot.xmax) return undefined;
  return { ...fields, signature, parsedSnapshot, parsedNext };
}

function sign(
  { order, snapshot, next, epoch, views, clientGroupID, mutations, tick, audit }: Omit<Cookie, 'signature'>,
  secret: string,
): string {
  const message = JSON.stringify([order, snapshot, next, epoch, views, clientGroupID, mutations, tick, audit]);
  return createHmac('sha256', secret).update(message).digest('base64url').slice(0, 22);
}

/** A short digest of any number of strings: 96 bits. */
export function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16);
}

/** The order of any JSON value that a client sends as its cookie; undefined where it has none, which sorts lowest. */
export function orderOf(cookie: unknown): Order | undefined {
  const order = typeof cookie === 'object' && cookie !== null && 'order' in cookie ? cookie.order : cookie;
  return typeof order === 'number' || typeof order === 'string' ? order : undefined;
}

/** Room between two orders of snapshots, for resets that no transaction comes before. */
const step = 1024n;
const room = Number.MAX_SAFE_INTEGER - 1;
const counted = /^(?<base>.*)\/(?<count>\d{16})$/s;

/**
 * The order of a new cookie: above the previous one in the client's comparison, and rising with the snapshot.
 * It is a number, unless the previous one (from another server, say) leaves no number above it: then that order as a
 * string, a slash and 16 digits that count on.
 */
export function nextOrder(previous: Order | undefined, finished: bigint): Order {
  const target = Number(finished * step);
  if (previous === undefined) return target;
  if (typeof previous === 'number' && previous < room) return Math.max(target, Math.floor(previous) + 1);
  const text = String(previous);
  const { base = text, count = '0' } = counted.exec(text)?.groups ?? {};
  const next = Math.max(target, Number(count) + 1);
  return next <= room ? `${base}/${String(next).padStart(16, '0')}` : `${text}/${String(target).padStart(16, '0')}`;
}
