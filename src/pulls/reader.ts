/** A pull, as far as reading for it is concerned, and what is read. */
import type { Caller } from '../http/identify.js';
import type { Bound } from '../installation/current-installation.js';
import type { ChangedViews } from '../installation/held-views.js';
import type { Installation } from '../installation/installation.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { Header, Member } from '../store/header.js';
import { type Altered, nothingAltered } from '../store/layouts/alteration.js';
import type { Checksums } from '../store/patches/checksums.js';
import type { Checked } from '../store/patches/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import type { KnownCookie } from '../window/known-cookies.js';
import type { PatchStream } from './patch-stream.js';

/** One pull, and what it reads. */
export class Reader {
  readonly #bound: Bound;
  readonly caller: Caller;
  readonly known: KnownCookie;
  /** Which checksums deltas must come with. */
  readonly checked: Checked;
  readonly member: Member;
  /** If the views are not all those of the cookie, what has become of them. */
  readonly changed: ChangedViews | undefined;
  /** The tables that have been altered since the cookie was given. */
  readonly altered: Altered;

  constructor(
    bound: Bound,
    caller: Caller,
    known: KnownCookie,
    checked: Checked,
    member: Member,
    changed?: ChangedViews | undefined,
    altered: Altered = nothingAltered,
  ) {
    this.#bound = bound;
    this.caller = caller;
    this.known = known;
    this.checked = checked;
    this.member = member;
    this.changed = changed;
    this.altered = altered;
  }

  get installation(): Installation {
    return this.changed?.installation ?? this.#bound.installation;
  }

  get views(): readonly BoundView[] {
    return this.#bound.views;
  }

  /** What aborts when the client goes away. */
  get signal(): AbortSignal | undefined {
    return this.caller.signal?.();
  }

  /** The cookie's snapshot. */
  get base(): Snapshot {
    return this.known.cookie.parsedSnapshot;
  }

  /**
   * Identifies the user, the views with their parameters, the installation, the base, its tick and the checksums; and views
   * and shapes of before if they differ:
   * readers with the same key differ only in `member`. It contains the user's ID as it is: to keep users' rows apart, a
   * digest is not relied on.
   */
  get key(): string {
    const { installation, viewsDigest } = this.#bound;
    const { snapshot, epoch, tick, views, parameters, shapes } = this.known.cookie;
    const before = [...(this.changed ? [views, parameters] : []), ...(this.altered.size > 0 ? [shapes] : [])];
    const { userID } = this.caller.context;
    return JSON.stringify([userID, viewsDigest, installation.cluster, epoch, snapshot, tick, this.checked, ...before]);
  }

  /** Identifies the views without their parameters, and the installation. */
  get form(): string {
    return JSON.stringify([this.#bound.formDigest, this.installation.cluster]);
  }
}

/** A reader of a delta. */
export interface DeltaReader {
  readonly reader: Reader;
  /** The tables that have changed. */
  readonly changed: Header['changed'];
}

/** The answer to one reader, all from one snapshot. */
export interface Patch {
  readonly header: Header;
  /** See `PatchReport`. */
  readonly torn: boolean;
  /** IDs of the tables whose changes the ops show. */
  readonly tables: readonly number[];
  readonly checksums?: Checksums | undefined;
  /** The ops, or the first of them, as bytes that other pulls may send too. */
  readonly held: readonly Uint8Array[];
  /** The ops after those, if there are too many to hold. */
  readonly more?: PatchStream | undefined;
}
