/** The cookie: a Postgres snapshot, what it is a snapshot of, and an order that the client compares. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../bounded-map.js';
import { parseWalPosition, type WalPosition } from './history.js';
import { parseSnapshot, parseXid, type Snapshot } from './snapshot.js';

/** The part of a cookie that the client compares: two numbers by value, anything else as strings, by UTF-16 unit. */
export type Order = number | string;

/**
 * The cookie that a pull returns and the next pull sends back. A later version may add fields. They are signed like the
 * others, and clients send them back unchanged. No field is an object.
 */
export interface Cookie {
  readonly order: Order;
  /** The transactions that the client has seen. */
  readonly snapshot: string;
  /**
   * A transaction ID. In the write-ahead log, transactions with this ID or a higher one end after all those that the
   * snapshot has seen.
   */
  readonly next: string;
  /** Identifies the database that the snapshot belongs to. */
  readonly databaseID: string;
  /** Digests of the user, of the views' parameters and of each view that the client holds. */
  readonly views: string;
  /** The client group that has received its lastMutationIDs as of the snapshot. */
  readonly clientGroupID: string;
  /**
   * The sum of that group's lastMutationIDs as of the snapshot. It never decreases, unless the database has lost
   * mutations that it had confirmed to clients.
   */
  readonly mutations: number;
  /** The newest heartbeat below the snapshot's xmin, which identifies the database's history. Null if none. */
  readonly heartbeat: string | null;
  /** The encoded `ConsistencyCheck` of a sampled client. Null for clients that are not sampled. */
  readonly consistencyCheck: string | null;
  /** A `WalPosition`. On its timeline, everything that the snapshot has seen lies before it. */
  readonly walPosition: string;
  /** The parameters of the views, unless they are too long; see `sealParameters`. */
  readonly parameters?: string;
  /** The schema hashes of the tables that the views read; see `schemaHashesOf`. */
  readonly schemaHashes: string;
  readonly signature: string;
}

/** The signed fields. */
export type CookieFields = Omit<Cookie, 'signature'>;

/** The parsed texts of a cookie. */
export interface CookieMeaning {
  readonly parsedSnapshot: Snapshot;
  readonly parsedNext: bigint;
}

/** A cookie with a valid signature and valid contents. */
export interface OpenedCookie extends Cookie, CookieMeaning {
  readonly parsedWalPosition: WalPosition;
  /** True if the secret that signed it no longer signs new cookies. */
  readonly isOutdated: boolean;
}

/** The first secret signs cookies. During a rotation, cookies signed with the others are accepted too. */
export type Secrets = readonly [string, ...string[]];

/** Signs a cookie. */
export function sealCookie(fields: CookieFields, [secret]: Secrets): Cookie {
  return { ...fields, signature: sign(fields, secret) };
}

/**
 * Checks and parses a cookie.
 * @param value any JSON value
 * @returns undefined if the value is not a valid cookie signed with one of these secrets
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
    databaseID,
    views,
    clientGroupID,
    mutations,
    heartbeat,
    consistencyCheck,
    walPosition,
    parameters,
    schemaHashes,
    signature,
  } = value;
  return (
    Object.values(value).every(isPlain) &&
    (typeof order === 'number' || typeof order === 'string') &&
    typeof snapshot === 'string' &&
    typeof next === 'string' &&
    typeof databaseID === 'string' &&
    typeof views === 'string' &&
    typeof clientGroupID === 'string' &&
    typeof mutations === 'number' &&
    (typeof heartbeat === 'string' || heartbeat === null) &&
    (typeof consistencyCheck === 'string' || consistencyCheck === null) &&
    typeof walPosition === 'string' &&
    (parameters === undefined || typeof parameters === 'string') &&
    typeof schemaHashes === 'string' &&
    typeof signature === 'string'
  );
}

/** True unless the value is an object, which could be nested too deeply to be serialized again. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function isSame(actual: string, expected: string): boolean {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Parses a cookie whose signature is valid. Returns undefined if its fields are invalid. */
function parseCookie(cookie: Cookie, isOutdated: boolean): OpenedCookie | undefined {
  const parsedSnapshot = parseSnapshot(cookie.snapshot);
  const parsedNext = parseXid(cookie.next);
  if (!parsedSnapshot || parsedNext === undefined || parsedNext < parsedSnapshot.xmax) return undefined;
  const parsedWalPosition = parseWalPosition(cookie.walPosition);
  if (!parsedWalPosition) return undefined;
  return { ...cookie, parsedSnapshot, parsedNext, parsedWalPosition, isOutdated };
}

/** Signs the names of the fields as well as their values. The order of the fields does not matter. */
function sign(fields: CookieFields, secret: string): string {
  const message = JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHmac('sha256', secret).update(message).digest('base64url').slice(0, 22);
}

/** Returns a short digest of any number of strings: 96 bits of SHA-256. */
export function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16);
}

/** A cache, because every pull needs a database ID, and most pulls need the same one. */
const databaseIDs = new BoundedMap<string, string>(100);

/** Returns the ID of a database. A restored dump gets another ID, and so does a new installation of Tidemark. */
export function databaseIDOf(installID: string, systemIdentifier: string, database: string): string {
  const key = `${installID} ${systemIdentifier} ${database}`;
  const known = databaseIDs.get(key);
  if (known !== undefined) return known;
  const databaseID = digest([installID, systemIdentifier, database]);
  databaseIDs.set(key, databaseID);
  return databaseID;
}

/** Returns the order in a client's cookie, which can be any JSON value; undefined, the lowest order, if it has none. */
export function orderOf(cookie: unknown): Order | undefined {
  const order = typeof cookie === 'object' && cookie !== null && 'order' in cookie ? cookie.order : cookie;
  return typeof order === 'number' || typeof order === 'string' ? order : undefined;
}

/** The distance between the orders of two snapshots. It leaves orders for resets with no transaction in between. */
const step = 1024n;
const maxOrder = Number.MAX_SAFE_INTEGER - 1;
const counted = /^(?<base>.*)\/(?<count>\d{16})$/s;

/**
 * Returns the order of a new cookie: higher than the previous one in the client's comparison, and rising with the
 * snapshot. It is a number, unless no number is higher than the previous order (from another server, say). In that case
 * it is the previous order as a string, followed by a slash and a 16-digit counter.
 *
 * @param finished the number of transactions that the snapshot has seen
 */
export function nextOrder(previous: Order | undefined, finished: bigint): Order {
  const target = Number(finished * step);
  if (previous === undefined) return target;
  if (typeof previous === 'number' && previous < maxOrder) return Math.max(target, Math.floor(previous) + 1);
  const text = String(previous);
  const { base = text, count = '0' } = counted.exec(text)?.groups ?? {};
  const next = Math.max(target, Number(count) + 1);
  return next <= maxOrder ? `${base}/${String(next).padStart(16, '0')}` : `${text}/${String(target).padStart(16, '0')}`;
}
