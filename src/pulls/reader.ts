/** A pull, as far as reading for it is concerned, and what is read. */
import type { Installation } from '../installation/installation.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { Header, Member } from '../store/header.js';
import type { Checksums } from '../store/patches/checksums.js';
import type { Checked } from '../store/patches/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import type { KnownCookie } from '../window/known-cookies.js';
import type { PatchStream } from './patch-stream.js';

/** One pull, and what it reads. */
export interface Reader {
  /**
   * Identifies the user, the views with their parameters, the installation, the base, its tick and the checksums:
   * readers with the same key differ only in `member`.
   */
  readonly key: string;
  /** Identifies the views without their parameters, and the installation. */
  readonly form: string;
  readonly installation: Installation;
  readonly views: readonly BoundView[];
  readonly known: KnownCookie;
  /** The cookie's snapshot. */
  readonly base: Snapshot;
  /** Which checksums deltas must come with. */
  readonly checked: Checked;
  readonly member: Member;
}

/** A reader of a delta, and the tables that have changed. */
export interface DeltaReader extends Reader {
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
