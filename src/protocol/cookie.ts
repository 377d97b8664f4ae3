/** The cookie: a Postgres snapshot, what it is a snapshot of, and an order for the client to compare. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../bounded-map.js';
import { type Position, parsePosition } from './history.js';
import { parseSnapshot, parseXid, type Snapshot } from './snapshot.js';

/** The part of a cookie that the client compares: two numbers by value, anything else as strings of UTF-16 units. */
export type Order = number | string;

/**
 * What a pull returns, and the next pull sends back. It may have fields of versions to come: they are signed like the
 * others, and sent back as they are. None is an object.
 */
export interface Cookie {
  readonly order: Order;
  /** Which transactions the client has seen. */
  readonly snapshot: string;
  /**
   * A transaction ID. In the write-ahead log, transactions from this one on end after all those that the snapshot has
   * seen.
   */
  readonly next: string;
  /** Which database the snapshot belongs to. */
  readonly epoch: string;
  /** Which user's views the client holds, and in which form. */
  readonly views: string;
  /** The client group that has been sent its lastMutationIDs as of the snapshot. */
  readonly clientGroupID: string;
  /**
   * The sum of that group's lastMutationIDs as of the snapshot. It only grows, unless the database has lost mutations
   * that it had confirmed to clients.
   */
  readonly mutations: number;
  /** The database's newest tick below the snapshot's xmin: a witness of its history. Null if there was none. */
  readonly tick: string | null;
  /** What a sampled client should hold; see `Audit`. Null for clients that are not sampled. */
  readonly audit: string | null;
  /** A `Position`. On that timeline, everything that the snapshot has seen lies before it. */
  readonly position: string;
  /** The parameters of the views, unless they are long; see `sealParameters`. */
  readonly parameters?: string;
  /** The shapes of the tables that the views read; see `shapesOf`. */
  readonly shapes: string;
  readonly signature: string;
}

/** What is signed. */
export type CookieFields = Omit<Cookie, 'signature'>;

/** What a cookie's texts mean. */
export interface CookieMeaning {
  readonly parsedSnapshot: Snapshot;
  readonly parsedNext: bigint;
}

/** A cookie whose signature and contents have been checked. */
export interface OpenedCookie extends Cookie, CookieMeaning {
  readonly parsedPosition: Position;
  /** It was signed with a secret that signs no longer. */
  readonly isOutdated: boolean;
}

/** The first signs cookies. Those that another has signed are accepted, for a time. */
export type Secrets = readonly [string, ...string[]];

/** Signs a cookie. */
export function sealCookie(fields: CookieFields, [secret]: Secrets): Cookie {
  return { ...fields, signature: sign(fields, secret) };
}

/**
 * Checks and parses a cookie.
 * @param value any JSON value
 * @returns undefined if the value is not a cookie that was signed with one of these secrets
 */
export function openCookie(value: unknown, secrets: Secrets): OpenedCookie | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const cookie = value as Readonly<Record<string, unknown>>;
  if (!hasFields(cookie)) return undefined;
  const { signature, ...fields } = cookie;
  const signer = secrets.findIndex((secret) => isSame(signature, sign(fields, secret)));
  return signer < 0 ? undefined : parseCookie(cookie, signer > 0);
}

function hasFields(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & Cookie {
  const {
    order,
    snapshot,
    next,
    epoch,
    views,
    clientGroupID,
    mutations,
    tick,
    audit,
    position,
    parameters,
    shapes,
    signature,
  } = value;
  return (
    Object.values(value).every(isPlain) &&
    (typeof order === 'number' || typeof order === 'string') &&
    typeof snapshot === 'string' &&
    typeof next === 'string' &&
    typeof epoch === 'string' &&
    typeof views === 'string' &&
    typeof clientGroupID === 'string' &&
    typeof mutations === 'number' &&
    (typeof tick === 'string' || tick === null) &&
    (typeof audit === 'string' || audit === null) &&
    typeof position === 'string' &&
    (parameters === undefined || typeof parameters === 'string') &&
    typeof shapes === 'string' &&
    typeof signature === 'string'
  );
}

/** Objects could be nested too deep to be written again. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Parses a cookie that is known to be genuine; undefined if it makes no sense. */
function parseCookie(cookie: Cookie, isOutdated: boolean): OpenedCookie | undefined {
  const parsedSnapshot = parseSnapshot(cookie.snapshot);
  const parsedNext = parseXid(cookie.next);
  if (!parsedSnapshot || parsedNext === undefined || parsedNext < parsedSnapshot.xmax) return undefined;
  const parsedPosition = parsePosition(cookie.position);
  if (!parsedPosition) return undefined;
  return { ...cookie, parsedSnapshot, parsedNext, parsedPosition, isOutdated };
}

/** Names are signed as well, and the order of the fields does not matter. */
function sign(fields: CookieFields, secret: string): string {
  const message = JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHmac('sha256', secret).update(message).digest('base64url').slice(0, 22);
}

/** A short digest of any number of strings: 96 bits of SHA-256. */
export function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16);
}

/** Every pull asks, mostly for the same one. */
const epochs = new BoundedMap<string, string>(100);

/** Which database this is. A dump that is restored makes another, and so does a new installation. */
export function epochOf(installID: string, systemIdentifier: string, database: string): string {
  const key = `${installID} ${systemIdentifier} ${database}`;
  const known = epochs.get(key);
  if (known !== undefined) return known;
  const epoch = digest([installID, systemIdentifier, database]);
  epochs.set(key, epoch);
  return epoch;
}

/** The order of any JSON value that a client sends as its cookie; undefined if it has none, which sorts lowest. */
export function orderOf(cookie: unknown): Order | undefined {
  const order = typeof cookie === 'object' && cookie !== null && 'order' in cookie ? cookie.order : cookie;
  return typeof order === 'number' || typeof order === 'string' ? order : undefined;
}

/** The distance between the orders of two snapshots. It leaves room for resets without a transaction in between. */
const step = 1024n;
const room = Number.MAX_SAFE_INTEGER - 1;
const counted = /^(?<base>.*)\/(?<count>\d{16})$/s;

/**
 * The order of a new cookie: higher than the previous one in the client's comparison, and rising with the snapshot.
 * It is a number, unless no number is higher than the previous order (from another server, say). In that case it is
 * that order as a string, followed by a slash and a counter of 16 digits.
 *
 * @param finished the number of transactions that the snapshot has seen
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
