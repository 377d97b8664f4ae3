/** The plain values of one attempt at a pull. */
import type { UserContext } from '../context.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { GroupRequest, ObservedState } from '../store/observation.js';
import { isRenewalDue } from './plan.js';
import type { ReadRequirement } from './read-requirement.js';
import type { Reader } from './reader.js';
import type { PullSession } from './session.js';

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

/** True if the server has no record of the client that the request names; see `lastMutationIDChanges`. */
export function isNewClient({ session }: PullTarget, state: ObservedState): boolean {
  return session.request.client !== undefined && !state.clientKnown;
}

/** True if the answer needs a new cookie. */
export function isRenewed(target: PullTarget, reader: Reader, state: ObservedState, hasOps: boolean): boolean {
  if (reader.viewDifference) return true;
  if (hasOps || target.session.format === 'rows') return hasOps;
  return isRenewalDue(reader.cookie, state) || isNewClient(target, state) || reader.schemaChanges.size > 0;
}
