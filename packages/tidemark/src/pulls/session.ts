/** A pull or a read of an identified caller. */

import type { UserContext } from '../context.js';
import type { Caller } from '../http/identify.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import type { Want } from '../protocol/wants.js';
import type { ClientViewInput, ResolvedViews } from '../schema/schema-cache.js';
import type { GroupRequest } from '../store/polls/group-state.js';
import type { ViewPart } from '../view/client-views.js';
import type { ReadRequirement } from './reads/read-requirement.js';
import type { Reader } from './reads/reader.js';

/** A read: a pull without a client group. */
export interface ReadRequest extends Pick<PullRequest, 'profileID' | 'schemaVersion' | 'cookie'> {
  readonly part: ViewPart;
  /** `rows`: all rows, if anything has changed since the cookie. `ops`: the changes. */
  readonly format: 'ops' | 'rows';
  /** True if the read continues from the cookie after a poke. Any database that shows the poke's changes will do. */
  readonly isFollowing: boolean;
}

/** A pull request with its caller, and the views that it is for. */
export interface PullSession<Context extends UserContext = UserContext> {
  readonly caller: Caller<Context>;
  readonly request: Pick<PullRequest, 'clientGroupID' | 'client' | 'cookie'>;
  readonly input: ClientViewInput<Context>;
  /** The part of the client view to read; all of it if undefined. */
  readonly part: ViewPart | undefined;
  /** `rows`: all data as rows, in the order of their keys. The cookie stays the same until something changes. */
  readonly format: 'ops' | 'rows';
  /** True if a first sync may come in stages. */
  readonly stages: boolean;
  /** The commits that a standby must show, besides those that the cookie has seen. */
  readonly freshness: 'own mutations' | 'all commits' | 'none';
}

/**
 * Returns the session of a pull.
 * @param wants the wanted instances of views with arguments
 */
export function pullSession<Context extends UserContext>(
  request: PullRequest,
  caller: Caller<Context>,
  wants?: readonly Want[],
): PullSession<Context> {
  const { profileID, schemaVersion, refused, stages = false } = request;
  const input = { ctx: caller.context, profileID, schemaVersion, refused, wants };
  return { caller, request, input, part: undefined, format: 'ops', stages, freshness: 'own mutations' };
}

/** Returns the session of a read. */
export function readSession<Context extends UserContext>(
  { profileID, schemaVersion, cookie, part, format, isFollowing }: ReadRequest,
  caller: Caller<Context>,
): PullSession<Context> {
  const request = { clientGroupID: noGroup, client: undefined, cookie };
  const input = { ctx: caller.context, profileID, schemaVersion };
  return { caller, request, input, part, format, stages: false, freshness: isFollowing ? 'none' : 'all commits' };
}

/** Returns the key by which pulls and subscribers are assigned to standbys. */
export function assignmentKey(clientGroupID: string, userID: string): string {
  return clientGroupID === noGroup ? `user ${userID}` : `group ${clientGroupID}`;
}

/** A session with the views that it resolves to now, and the base that it starts from. */
export interface PullTarget<Context extends UserContext = UserContext> {
  readonly session: PullSession<Context>;
  readonly resolved: ResolvedViews;
  /** The cookie, and how it differs from the views; undefined without a readable cookie. */
  readonly reader: Reader | undefined;
  /** Set if the database is a standby. */
  readonly requirement: ReadRequirement | undefined;
}

/** Returns the record of the client group that a session needs. */
export function groupRequestOf({ request }: PullSession, cookieGroup: string | undefined): GroupRequest {
  const { clientGroupID, client } = request;
  return { clientGroupID, sameGroup: cookieGroup === clientGroupID, clientID: client?.id };
}
