/** The result of a pull, before it is written as a response. */

import type { CookieCache, VerifiedCookie } from '../change-log/cookie-cache.js';
import { type ConsistencyCheck, encodeConsistencyCheck } from '../protocol/consistency-check.js';
import { type Cookie, type CookieFields, nextOrder, orderOf } from '../protocol/cookie.js';
import { type WalPosition, walPositionText } from '../protocol/history.js';
import { noGroup } from '../protocol/pull.js';
import { finishedTransactions } from '../protocol/snapshot.js';
import type { ObservedState } from '../store/polls/observation.js';
import { type Identity, identityOf, type ResetReason } from './plan.js';
import type { PatchStream } from './reads/patch-stream.js';
import type { PatchRead } from './reads/reader.js';
import type { PullSession, PullTarget } from './session.js';

/** The result of a pull. */
export type PullResult =
  | PatchResult
  /** The caller has everything. Its cookie stays valid. */
  | { readonly kind: 'unchanged'; readonly verifiedCookie: VerifiedCookie }
  /** A standby shows less than the caller has seen or requires. If `isUncertain`, waiting for it does not help. */
  | { readonly kind: 'behind'; readonly isUncertain: boolean }
  /** See `Plan`. */
  | { readonly kind: 'lost' };

/** The schema state is outdated: read it, and answer again. */
export interface Outdated {
  readonly kind: 'outdated';
  /** The state that a statement has observed anyway, if it has. */
  readonly state?: ObservedState;
}

/**
 * A new cookie, and the data that the caller lacks, as bytes with one op or row per line. `first` and `reset` have all
 * data, because the caller has none or must discard it. `views` is a delta after a view set change.
 */
export interface PatchResult {
  readonly kind: 'delta' | 'views' | 'first' | 'reset';
  /** Why the client is reset. */
  readonly reason?: ResetReason | undefined;
  readonly cookie: Cookie;
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  /** The names of the views of later stages, which the client has yet to receive; undefined if there are none. */
  readonly laterViews?: readonly string[] | undefined;
  /** The first part of the ops or rows. */
  readonly firstChunks: readonly Uint8Array[];
  /** The remaining ops or rows. The caller must close it. */
  readonly more?: ReplaceableStream | undefined;
}

/** Ops or rows that can end with those of another patch. */
export interface ReplaceableStream extends PatchStream {
  /** The patch that all ops belong to in place of the stream's own, once they have been read; undefined if none. */
  readonly replacement?: PatchResult | undefined;
}

/** A standby cannot determine whether its views are current. Waiting for it does not help. */
export const uncertain: PullResult = { kind: 'behind', isUncertain: true };

/**
 * Signs the cookie of a patch.
 * @param reason why the client is reset
 */
export function seal(
  { session, resolved }: PullTarget,
  kind: PatchResult['kind'],
  { state, consistencyCheck, firstChunks, more }: PatchRead,
  cookies: CookieCache,
  reason?: ResetReason,
): PatchResult {
  const { current, lsn } = state.history;
  // Where the timeline is unknown, the plan is `outdated` or `behind`.
  const position = { timeline: current!, lsn };
  const fields = cookieFields(session.request, state, identityOf(resolved, state), consistencyCheck, position);
  const meaning = { parsedSnapshot: state.snapshot, parsedNext: state.nextXid, parsedWalPosition: position };
  return {
    kind,
    reason,
    cookie: cookies.seal(fields, meaning, resolved.schema.secrets),
    lastMutationIDChanges: lastMutationIDChanges(session.request, state),
    firstChunks,
    more,
  };
}

/** Returns the fields of a new cookie. */
function cookieFields(
  { clientGroupID, cookie }: PullSession['request'],
  { snapshot, nextXid, heartbeat, mutations }: ObservedState,
  { databaseID, views, parameters, schemaHashes }: Identity,
  consistencyCheck: ConsistencyCheck | null,
  position: WalPosition,
): CookieFields {
  const order = nextOrder(orderOf(cookie), finishedTransactions(snapshot));
  const databaseFields = { order, snapshot: snapshot.text, next: String(nextXid), databaseID, views, schemaHashes };
  const fields = {
    ...databaseFields,
    clientGroupID,
    mutations,
    heartbeat,
    consistencyCheck: consistencyCheck && encodeConsistencyCheck(consistencyCheck),
  };
  // Reads get all of a view if it has changed, so their cookies need no parameters.
  const isComparable = parameters !== undefined && clientGroupID !== noGroup;
  return { ...fields, walPosition: walPositionText(position), ...(isComparable && { parameters }) };
}

/** Returns the lastMutationIDs to send. It is 0 for a client that the request names but the server has no record of. */
function lastMutationIDChanges(
  { client }: PullSession['request'],
  { lastMutationIDs, clientKnown }: ObservedState,
): PatchResult['lastMutationIDChanges'] {
  return { ...lastMutationIDs, ...(client && !clientKnown && { [client.id]: 0 }) };
}

/** Yields all ops or rows of a patch. Closes the patch, even if the caller stops before its end. */
export async function* linesIn({
  firstChunks,
  more,
}: Pick<PatchResult, 'firstChunks' | 'more'>): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* firstChunks;
    if (more) yield* { [Symbol.asyncIterator]: () => more.ops };
  } finally {
    await more?.close();
  }
  return undefined;
}
