import { type Want, wantOf } from './instance.js';
import type { Expiries, WantStore } from './want-store.js';

/** How long an instance stays wanted after its last use, in milliseconds. */
export type Ttl = number | 'forever';

/** The options of a use of an instance. */
export interface WantOptions {
  /** How long the instance stays wanted after this use of it, in milliseconds. Default five minutes. */
  readonly ttl?: Ttl | undefined;
}

const defaultTtlMs = 300_000;
/** A tab that does not renew its wants has crashed or is frozen: the other tabs drop what it uses, but not before this. */
const leaseMs = 180_000;
/** Browsers run the timers of hidden pages at least once a minute. */
const renewMs = 60_000;
/** Changes within this time are announced together. */
const coalesceMs = 10;

interface Entry {
  /** The number of current uses. */
  uses: number;
  /** The longest `ttl` of its uses. */
  ttlMs: number;
  /** The time until which the instance is wanted without a use. */
  until: number;
}

/** The instances that the tabs of a user want: each as long as a tab uses it, and for its `ttl` after that. */
export class Wants {
  readonly #store: WantStore;
  /** The wants of this tab, by the texts of the instances. */
  readonly #entries = new Map<string, Entry>();
  readonly #renewal: ReturnType<typeof setInterval>;
  readonly #stopListening: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #checkFollower = () => {};
  #hasEnded = false;
  /** Called after changes of what this tab wants. */
  onChange = (): void => {};

  constructor(store: WantStore) {
    this.#store = store;
    // Tabs that are gone renew nothing, such as this one before a reload. So this tab takes over what they want.
    for (const [text, until] of store.others()) this.#entries.set(text, { uses: 0, ttlMs: 0, until });
    this.#write();
    store.removeOthers();
    this.#renewal = setInterval(() => this.#write(), renewMs);
    this.#stopListening = store.listen((isRemoved) => {
      if (isRemoved) this.#write();
      this.#checkFollower();
    });
  }

  /** Wants an instance. Returns a function that ends this use. */
  use(text: string, ttl: Ttl = defaultTtlMs): () => void {
    const entry = this.#entries.get(text) ?? { uses: 0, ttlMs: 0, until: 0 };
    this.#entries.set(text, entry);
    entry.uses++;
    entry.ttlMs = Math.max(entry.ttlMs, ttl === 'forever' ? Number.POSITIVE_INFINITY : ttl);
    this.#changed();
    let isUsed = true;
    return () => {
      if (!isUsed) return;
      isUsed = false;
      entry.uses--;
      entry.until = Math.max(entry.until, Date.now() + entry.ttlMs);
      this.#changed();
    };
  }

  /**
   * The texts of all wanted instances, in an order that rarely changes, because servers recognize requests that they know.
   * Those in use here come first, because the server may refuse the last ones of too many.
   */
  get texts(): readonly string[] {
    const used = [...this.#entries].filter(([, { uses }]) => uses > 0);
    const all = [...this.#store.others(), ...this.#expiries()].filter(([, expiry]) => expiry > Date.now());
    return [...new Set([used, all].flatMap((wanted) => wanted.map(([text]) => text).sort()))];
  }

  /** Returns the wanted instances, and calls `onOthers` when others are wanted, until this is called again. */
  readonly follow = (onOthers: () => void): readonly Want[] => {
    const { texts } = this;
    this.#checkFollower = () => {
      if (this.texts.some((text) => !texts.includes(text))) onOthers();
    };
    return texts.map(wantOf);
  };

  /** Stops. @param erase true to remove what all tabs of the user want */
  end(erase: boolean): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    clearInterval(this.#renewal);
    this.#stopListening();
    if (erase) this.#store.erase();
    else this.#write();
  }

  #changed(): void {
    if (this.#hasEnded) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#write();
      this.onChange();
      this.#checkFollower();
    }, coalesceMs);
  }

  #write(): void {
    this.#store.write(this.#expiries());
  }

  /** Returns what this tab wants, without what has expired. */
  #expiries(): Expiries {
    const now = Date.now();
    const expiries: Expiries = new Map();
    for (const [text, { uses, ttlMs, until }] of this.#entries) {
      const expiry = uses > 0 ? Math.max(until, now + Math.max(ttlMs, leaseMs)) : until;
      if (expiry > now) expiries.set(text, expiry);
      else this.#entries.delete(text);
    }
    return expiries;
  }
}
