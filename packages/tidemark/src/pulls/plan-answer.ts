/** Plans the answer to a pull from an observed state. Pure. */
import { Problem } from '../errors.js';
import type { ObservedState } from '../store/polls/observation.js';
import { type AnswerPlan, identityOf, isRenewalDue, type Plan, planPull } from './plan.js';
import { satisfies } from './reads/read-requirement.js';
import type { Reader } from './reads/reader.js';
import type { PullTarget } from './session.js';

/** @throws Problem if the client group belongs to another user, or a client's record is lost. */
export function planAnswer(target: PullTarget, state: ObservedState): AnswerPlan {
  const { session, reader, requirement } = target;
  const { client } = session.request;
  if (requirement && !satisfies(state, requirement)) return { kind: 'behind' };
  // A standby has yet to replay the record of the timeline. On a primary, the next schema state read adds it.
  if (state.history.current === null) return state.recovery ? { kind: 'behind' } : { kind: 'outdated' };
  if (state.owner !== null && state.owner !== session.caller.context.userID) {
    throw new Problem('forbidden', 'The client group belongs to another user.');
  }
  const plan: Plan = reader ? planSince(reader, target, state) : { kind: 'reset', reason: 'cookie' };
  if (plan.kind === 'behind') return plan;
  if (client && !state.clientKnown && client.lastMutationID !== 0) {
    throw state.recovery
      ? new Problem('unavailable', 'This standby has no record of the client yet; try again later')
      : new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
  }
  if (!reader || (plan.kind !== 'delta' && plan.kind !== 'unchanged')) return plan;
  if (reader.viewDifference) return { kind: 'delta', tables: plan.kind === 'delta' ? plan.tables : [] };
  if (plan.kind === 'delta' && plan.tables.length > 0) return plan;
  const isDue = plan.kind === 'delta' || isNewClient(target, state);
  return isDue && isRenewed(target, reader, state, false) ? { kind: 'renew' } : { kind: 'unchanged' };
}

function planSince({ cookie, schemaChanges, viewDifference }: Reader, target: PullTarget, state: ObservedState): Plan {
  const { clientGroupID } = target.session.request;
  // A delta itself replaces the views that differ.
  const views = viewDifference && { views: cookie.views };
  return planPull(cookie, { state, clientGroupID, ...identityOf(target.resolved, state), schemaChanges, ...views });
}

/** True if the server has no record of the client that the request names; see `lastMutationIDChanges`. */
function isNewClient({ session }: PullTarget, state: ObservedState): boolean {
  return session.request.client !== undefined && !state.clientKnown;
}

/** True if the answer needs a new cookie. */
export function isRenewed(target: PullTarget, reader: Reader, state: ObservedState, hasOps: boolean): boolean {
  if (reader.viewDifference) return true;
  if (hasOps || target.session.format === 'rows') return hasOps;
  return isRenewalDue(reader.cookie, state) || isNewClient(target, state) || reader.schemaChanges.size > 0;
}
