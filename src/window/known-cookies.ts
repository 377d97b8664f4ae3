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
import type { Window } from './window.js';

const keptCookies = 10_000;

/** A cookie that has been verified, and what the server has found out about it. */
export class KnownCookie {
  readonly cookie: OpenedCookie;
  readonly secrets: Secrets;
  #fields: Cookie | undefined;
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
    if (!isSame(this.fields, value)) return false;
    this.#sent = value;
    return true;
  }

  /** The answer that says that nothing has changed, as JSON text. */
  get unchanged(): string {
    this.#unchanged ??= unchangedText(this.fields);
    return this.#unchanged;
  }

  /** The cookie as it is sent. */
  get fields(): Cookie {
    this.#fields ??= fieldsOf(this.cookie);
    return this.#fields;
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
  seal(fields: CookieFields, meaning: Omit<OpenedCookie, keyof Cookie | 'isOutdated'>, secrets: Secrets): Cookie {
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

function fieldsOf({ parsedSnapshot, parsedNext, parsedPosition, isOutdated, ...fields }: OpenedCookie): Cookie {
  return fields;
}

/** Whether the value has the fields of the cookie, and no others. */
function isSame(cookie: Cookie, value: Cookie): boolean {
  const names = Object.keys(cookie) as (keyof Cookie)[];
  return names.length === Object.keys(value).length && names.every((name) => value[name] === cookie[name]);
}
