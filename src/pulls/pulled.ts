/** What has been pulled, before it is written as a response. */
import { type Audit, encodeAudit } from '../protocol/audit.js';
import { type Cookie, type CookieFields, nextOrder, orderOf } from '../protocol/cookie.js';
import { type Position, positionText } from '../protocol/history.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import { finishedTransactions } from '../protocol/snapshot.js';
import type { Header } from '../store/header.js';
import type { KnownCookie } from '../window/known-cookies.js';
import type { Identity } from './identity.js';
import type { PatchStream } from './patch-stream.js';

/** How a pull ends. */
export type Pulled =
  | Patched
  /** The caller has everything. Its cookie remains the right one. */
  | { readonly kind: 'unchanged'; readonly known: KnownCookie }
  /** A standby shows less than the caller has seen, or than was demanded. If it `isUncertain`, waiting does not help. */
  | { readonly kind: 'behind'; readonly isUncertain: boolean }
  /** See `Plan`. */
  | { readonly kind: 'lost' };

/**
 * A new cookie, and what the caller lacks, as bytes, each op or row on a line of its own. `first` and `reset` hold all
 * data: the caller has none, or is to forget what it has. `views` is a delta of views that are not all the same any more.
 */
export interface Patched {
  readonly kind: 'delta' | 'views' | 'first' | 'reset';
  readonly cookie: Cookie;
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  /** The first part of the ops or rows. */
  readonly held: readonly Uint8Array[];
  /** The others. It is to be closed. */
  readonly more?: PatchStream | undefined;
  /** Once all ops have been read: what they turned out to belong to, if not to this. */
  readonly replacement?: (() => Patched | undefined) | undefined;
}

/** What a new cookie says. */
export function cookieFields(
  { clientGroupID, cookie }: PullRequest,
  { snapshot, next, tick, mutations }: Header,
  { epoch, views, parameters, shapes }: Identity,
  audit: Audit | null,
  position: Position,
): CookieFields {
  const order = nextOrder(orderOf(cookie), finishedTransactions(snapshot));
  const known = { order, snapshot: snapshot.text, next: String(next), epoch, views, shapes };
  const fields = { ...known, clientGroupID, mutations, tick, audit: audit && encodeAudit(audit) };
  // Who reads one view is sent all of it if it has changed.
  const isComparable = parameters !== undefined && clientGroupID !== noGroup;
  return { ...fields, position: positionText(position), ...(isComparable && { parameters }) };
}

/** A client that the request names, but that the server does not know yet, is told that its lastMutationID is 0. */
export function lastMutationIDChanges(
  { client }: PullRequest,
  { lastMutationIDs, clientKnown }: Header,
): Patched['lastMutationIDChanges'] {
  return { ...lastMutationIDs, ...(client && !clientKnown && { [client.id]: 0 }) };
}

/** The ops or rows of a patch, to the end. Closes what it reads from, even if it is not read to the end. */
export async function* linesIn({ held, more }: Pick<Patched, 'held' | 'more'>): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* held;
    if (more) yield* { [Symbol.asyncIterator]: () => more.ops };
  } finally {
    await more?.close();
  }
  return undefined;
}
