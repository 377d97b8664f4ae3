import { BoundedMap } from '../bounded-map.js';
import {
  type Cookie,
  type CookieFields,
  type CookieMeaning,
  fieldCount,
  type OpenedCookie,
  openCookie,
  type Secrets,
  sealCookie,
} from '../protocol/cookie.js';
import { unchangedText } from '../protocol/pull.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { Window } from './window.js';

const keptCookies = 10_000;

/** A cookie that has been verified, and what the server has found out about it. */
export class KnownCookie {
  readonly cookie: OpenedCookie;
  readonly secrets: Secrets;
  #unchanged: string | undefined;
  #sent: unknown;
  #quiet: { readonly window: Window; readonly until: Snapshot } | undefined;

  constructor(cookie: OpenedCookie, secrets: Secrets) {
    this.cookie = cookie;
    this.secrets = secrets;
  }

  /** Whether a value has the fields of the cookie, and no others. */
  isOf(value: Cookie): boolean {
    if (value === this.#sent) return true;
    if (!isSame(this.cookie, value)) return false;
    this.#sent = value;
    return true;
  }

  /** The answer that says that nothing has changed, as JSON text. */
  get unchanged(): string {
    this.#unchanged ??= this.#sayUnchanged();
    return this.#unchanged;
  }

  #sayUnchanged(): string {
    const { parsedSnapshot: _, parsedNext: __, isOutdated: ___, ...cookie } = this.cookie;
    return unchangedText(cookie);
  }

  /** The newest snapshot at which a new cookie would say no more than this one, as far as the window knows. */
  baseIn(window: Window): Snapshot {
    return this.#quiet?.window === window ? this.#quiet.until : this.cookie.parsedSnapshot;
  }

  /**
   * Records that, as of a snapshot, the views show what the holder of this cookie has, and that no mutation of its client
   * group has been applied since.
   */
  remainsQuiet(window: Window, until: Snapshot): void {
    this.#quiet = { window, until };
  }
}

/** Signs cookies and verifies them, and remembers both: most clients send the same cookie many times. */
export class KnownCookies {
  readonly #known = new BoundedMap<string, KnownCookie>(keptCookies);

  /** Like `openCookie`. */
  open(value: unknown, secrets: Secrets): KnownCookie | undefined {
    const { signature } = (value ?? {}) as Partial<Cookie>;
    const found = typeof signature === 'string' ? this.#known.get(signature) : undefined;
    if (found?.secrets === secrets && found.isOf(value as Cookie)) return found;
    return this.#learn(openCookie(value, secrets), secrets);
  }

  /**
   * Like `sealCookie`.
   * @param meaning of the fields
   */
  seal(fields: CookieFields, meaning: CookieMeaning, secrets: Secrets): Cookie {
    const cookie = sealCookie(fields, secrets);
    this.#learn({ ...cookie, ...meaning, isOutdated: false }, secrets);
    return cookie;
  }

  #learn(cookie: OpenedCookie | undefined, secrets: Secrets): KnownCookie | undefined {
    if (!cookie) return undefined;
    const known = new KnownCookie(cookie, secrets);
    this.#known.set(cookie.signature, known);
    return known;
  }
}

/** Whether the value has the fields of the cookie, and no others. */
function isSame(cookie: OpenedCookie, value: Cookie): boolean {
  return (
    value.order === cookie.order &&
    value.snapshot === cookie.snapshot &&
    value.next === cookie.next &&
    value.epoch === cookie.epoch &&
    value.views === cookie.views &&
    value.clientGroupID === cookie.clientGroupID &&
    value.mutations === cookie.mutations &&
    value.tick === cookie.tick &&
    value.audit === cookie.audit &&
    value.signature === cookie.signature &&
    Object.keys(value).length === fieldCount
  );
}
