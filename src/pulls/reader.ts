/** The part of a pull that reads need, and the result of a read. */

import type { VerifiedCookie } from '../change-log/cookie-cache.js';
import type { Caller } from '../http/identify.js';
import type { ConsistencyCheck } from '../protocol/consistency-check.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { ViewSetDifference } from '../schema/cookie-views.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { SchemaState } from '../schema/schema-state.js';
import type { GroupRequest, ObservedState } from '../store/observation.js';
import type { Checksums } from '../store/patches/checksums.js';
import type { ChecksumScope } from '../store/patches/patch-sql.js';
import type { SchemaChanges } from '../store/row-formats/schema-change.js';
import type { ResolvedView } from '../view/client-views.js';
import type { PatchStream } from './patch-stream.js';

/** The parts of a reader. */
export interface ReaderParts {
  readonly resolved: ResolvedViews;
  readonly caller: Caller;
  readonly verifiedCookie: VerifiedCookie;
  /** The consistency check in the cookie of a sampled client. */
  readonly consistencyCheck: ConsistencyCheck | null;
  /** The checksums that must come with a delta. */
  readonly checksumMode: ChecksumScope;
  readonly groupRequest: GroupRequest;
  /** The difference from the cookie's views, if there is one. */
  readonly viewDifference: ViewSetDifference | undefined;
  /** The schema changes of tables since the cookie was issued. */
  readonly schemaChanges: SchemaChanges;
}

/** The base of a pull: its cookie, and how it differs from the current views. */
export class Reader implements Readonly<Omit<ReaderParts, 'resolved'>> {
  readonly #resolved: ResolvedViews;
  readonly caller: Caller;
  readonly verifiedCookie: VerifiedCookie;
  readonly consistencyCheck: ConsistencyCheck | null;
  readonly checksumMode: ChecksumScope;
  readonly groupRequest: GroupRequest;
  readonly viewDifference: ViewSetDifference | undefined;
  readonly schemaChanges: SchemaChanges;

  constructor(parts: ReaderParts) {
    this.#resolved = parts.resolved;
    this.caller = parts.caller;
    this.verifiedCookie = parts.verifiedCookie;
    this.consistencyCheck = parts.consistencyCheck;
    this.checksumMode = parts.checksumMode;
    this.groupRequest = parts.groupRequest;
    this.viewDifference = parts.viewDifference;
    this.schemaChanges = parts.schemaChanges;
  }

  get cookie(): OpenedCookie {
    return this.verifiedCookie.cookie;
  }

  get schema(): SchemaState {
    return this.viewDifference?.schema ?? this.#resolved.schema;
  }

  get views(): readonly ResolvedView[] {
    return this.#resolved.views;
  }

  /** Aborts when the client disconnects. */
  get signal(): AbortSignal | undefined {
    return this.caller.request?.signal;
  }

  /** The cookie's snapshot. */
  get base(): Snapshot {
    return this.verifiedCookie.cookie.parsedSnapshot;
  }

  /**
   * Identifies the user, the views with their parameters, the cluster, the base with its heartbeat, and the checksums;
   * and the cookie's views and schema hashes if they differ. Readers with the same key differ only in `groupRequest`.
   * The key contains the user ID itself, so that keeping users' rows apart does not depend on a digest.
   */
  get key(): string {
    const { schema, viewsDigest } = this.#resolved;
    const { snapshot, databaseID, heartbeat, views, parameters, schemaHashes } = this.verifiedCookie.cookie;
    const before = [
      ...(this.viewDifference ? [views, parameters] : []),
      ...(this.schemaChanges.size > 0 ? [schemaHashes] : []),
    ];
    const { userID } = this.caller.context;
    return JSON.stringify([
      userID,
      viewsDigest,
      schema.cluster,
      databaseID,
      snapshot,
      heartbeat,
      this.checksumMode,
      ...before,
    ]);
  }

  /** Identifies the views without their parameters, and the cluster. */
  get statementKey(): string {
    return JSON.stringify([this.#resolved.queryDigest, this.schema.cluster]);
  }
}

/** A reader of a delta. */
export interface DeltaReader {
  readonly reader: Reader;
  /** The changed tables, with their numbers of log rows. */
  readonly changed: ObservedState['changeCounts'];
}

/** The result for one reader, from one snapshot. */
export interface Patch {
  readonly state: ObservedState;
  /** See `PatchObservation`. */
  readonly torn: boolean;
  /** IDs of the tables whose changes the ops show. */
  readonly tables: readonly number[];
  readonly checksums?: Checksums | undefined;
  /** The ops, or the first of them, as bytes that several pulls can send. */
  readonly firstChunks: readonly Uint8Array[];
  /** The remaining ops, if there are too many to keep in memory. */
  readonly more?: PatchStream | undefined;
}
