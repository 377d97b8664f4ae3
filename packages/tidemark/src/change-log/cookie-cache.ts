import { BoundedMap } from '../bounded-map.js';
import {
  type Cookie,
  type CookieFields,
  type OpenedCookie,
  openCookie,
  type Secrets,
  sealCookie,
} from '../protocol/cookie.js';
import { unchangedText } from '../protocol/pull.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { ChangeLogCache } from './change-log-cache.js';

const maxCookies = 10_000;

/** A verified cookie, and what the server has found out about it. */
export class VerifiedCookie {
  readonly cookie: OpenedCookie;
  readonly secrets: Secrets;
  #fields: Cookie | undefined;
  #unchanged: string | undefined;
  #lastMatch: unknown;
  #unchangedSpan: { readonly cache: ChangeLogCache; readonly until: Snapshot } | undefined;

  constructor(cookie: OpenedCookie, secrets: Secrets) {
    this.cookie = cookie;
    this.secrets = secrets;
  }

  /** True if a value has the fields of the cookie, and no others. */
  isOf(value: Cookie): boolean {
    if (value === this.#lastMatch) return true;
    if (!isSame(this.fields, value)) return false;
    this.#lastMatch = value;
    return true;
  }

  /** The answer that nothing has changed, as JSON text. */
  get unchanged(): string {
    this.#unchanged ??= unchangedText(this.fields);
    return this.#unchanged;
  }

  /** The cookie as it is sent. */
  get fields(): Cookie {
    this.#fields ??= fieldsOf(this.cookie);
    return this.#fields;
  }

  /** The newest snapshot as of which nothing has changed for this cookie's client, as far as the cache shows. */
  baseIn(cache: ChangeLogCache): Snapshot {
    return this.#unchangedSpan?.cache === cache ? this.#unchangedSpan.until : this.cookie.parsedSnapshot;
  }

  /**
   * Records that, as of a snapshot, the views show what this cookie's client has, and that no mutation of its client
   * group has been applied since the cookie's snapshot.
   */
  markUnchanged(cache: ChangeLogCache, until: Snapshot): void {
    this.#unchangedSpan = { cache, until };
  }
}

/** Signs and verifies cookies, and caches them, because most clients send the same cookie many times. */
export class CookieCache {
  readonly #cookies = new BoundedMap<string, VerifiedCookie>(maxCookies);

  /** Returns a verified cookie, from the cache or from `openCookie`. */
  open(value: unknown, secrets: Secrets): VerifiedCookie | undefined {
    const { signature } = (value ?? {}) as Partial<Cookie>;
    const found = typeof signature === 'string' ? this.#cookies.get(signature) : undefined;
    if (found?.secrets === secrets && found.isOf(value as Cookie)) return found;
    return this.#learn(openCookie(value, secrets), secrets);
  }

  /**
   * Signs a cookie as `sealCookie` does, and adds it to the cache.
   * @param meaning the parsed values of the fields
   */
  seal(fields: CookieFields, meaning: Omit<OpenedCookie, keyof Cookie | 'isOutdated'>, secrets: Secrets): Cookie {
    const cookie = sealCookie(fields, secrets);
    this.#learn({ ...cookie, ...meaning, isOutdated: false }, secrets);
    return cookie;
  }

  #learn(cookie: OpenedCookie | undefined, secrets: Secrets): VerifiedCookie | undefined {
    if (!cookie) return undefined;
    const verifiedCookie = new VerifiedCookie(cookie, secrets);
    this.#cookies.set(cookie.signature, verifiedCookie);
    return verifiedCookie;
  }
}

function fieldsOf({ parsedSnapshot, parsedNext, parsedWalPosition, isOutdated, ...fields }: OpenedCookie): Cookie {
  return fields;
}

/** True if the value has the fields of the cookie, and no others. */
function isSame(cookie: Cookie, value: Cookie): boolean {
  const names = Object.keys(cookie) as (keyof Cookie)[];
  return names.length === Object.keys(value).length && names.every((name) => value[name] === cookie[name]);
}
