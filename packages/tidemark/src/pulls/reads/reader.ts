/** The part of a pull that reads need, and the result of a read. */

import type { VerifiedCookie } from '../../change-log/cookie-cache.js';
import type { Caller } from '../../http/identify.js';
import type { ConsistencyCheck } from '../../protocol/consistency-check.js';
import type { OpenedCookie } from '../../protocol/cookie.js';
import type { Snapshot } from '../../protocol/snapshot.js';
import type { ResolvedViews } from '../../schema/schema-cache.js';
import type { SchemaState } from '../../schema/schema-state.js';
import type { ViewSetDifference } from '../../schema/views/cookie-views.js';
import type { Checksums } from '../../store/patches/checksums.js';
import type { ChecksumScope } from '../../store/patches/patch-sql.js';
import type { GroupRequest } from '../../store/polls/group-state.js';
import type { ObservedState } from '../../store/polls/observation.js';
import type { SchemaChanges } from '../../store/row-formats/schema-change.js';
import type { ResolvedView } from '../../view/client-views.js';
import type { PatchStream } from './patch-stream.js';

/** The verified cookie of a pull, and how it differs from the current views. */
export interface Reader {
  readonly caller: Caller;
  readonly resolved: ResolvedViews;
  readonly verifiedCookie: VerifiedCookie;
  readonly cookie: OpenedCookie;
  /** The cookie's snapshot. */
  readonly base: Snapshot;
  readonly views: readonly ResolvedView[];
  /** The schema state of the views, and of the cookie's views if they differ. */
  readonly schema: SchemaState;
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

/** Returns a reader with the fields that follow from the others. Most pulls need one, so it is written in one piece. */
export function createReader(parts: Omit<Reader, 'cookie' | 'base' | 'views' | 'schema'>): Reader {
  const { resolved, verifiedCookie, viewDifference } = parts;
  const { cookie } = verifiedCookie;
  return {
    caller: parts.caller,
    resolved,
    verifiedCookie,
    cookie,
    base: cookie.parsedSnapshot,
    views: resolved.views,
    schema: viewDifference?.schema ?? resolved.schema,
    consistencyCheck: parts.consistencyCheck,
    checksumMode: parts.checksumMode,
    groupRequest: parts.groupRequest,
    viewDifference,
    schemaChanges: parts.schemaChanges,
  };
}

/**
 * Identifies the user, the views with their parameters, the cluster, the base with its heartbeat, and the checksums; and
 * the cookie's views and schema hashes if they differ. Readers with the same key differ only in `groupRequest`. The key
 * contains the user ID itself, so that keeping users' rows apart does not depend on a digest.
 */
export function readerKey({ caller, resolved, cookie, checksumMode, viewDifference, schemaChanges }: Reader): string {
  const { snapshot, databaseID, heartbeat, views, parameters, schemaHashes } = cookie;
  return JSON.stringify([
    caller.context.userID,
    resolved.viewsDigest,
    resolved.schema.cluster,
    databaseID,
    snapshot,
    heartbeat,
    checksumMode,
    ...(viewDifference ? [views, parameters] : []),
    ...(schemaChanges.size > 0 ? [schemaHashes] : []),
  ]);
}

/** Identifies the views without their parameters, and the cluster. */
export function statementKey({ resolved, schema }: Reader): string {
  return JSON.stringify([resolved.queryDigest, schema.cluster]);
}

/** Returns a signal that aborts when the client disconnects. Creating it takes time. */
export function abortSignalOf({ caller }: Reader): AbortSignal | undefined {
  return caller.request?.signal;
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

/** A patch that has been read, at least its first part. */
export interface PatchRead {
  readonly kind: 'patch';
  readonly state: ObservedState;
  /** For the new cookie. */
  readonly consistencyCheck: ConsistencyCheck | null;
  /** The first part of the ops or rows. */
  readonly firstChunks: readonly Uint8Array[];
  /** The rest, which must be closed. */
  readonly more?: PatchStream | undefined;
}
