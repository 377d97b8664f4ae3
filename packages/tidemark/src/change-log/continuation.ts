/** Compares two observed states of a database. Pure. */
import { covers } from '../protocol/snapshot.js';
import type { DatabaseState } from '../store/polls/observation.js';

/** True if a state is a later one of the same history. Its poll must have named the earlier state's heartbeat. */
export function isContinuedBy(before: DatabaseState, state: DatabaseState): boolean {
  return (
    state.serverStart === before.serverStart &&
    state.installID === before.installID &&
    state.database === before.database &&
    state.recovery === before.recovery &&
    !state.diverged &&
    (state.recovery || state.nextXid >= before.nextXid) &&
    // Otherwise, changes in between may have been deleted.
    before.snapshot.xmin >= state.horizon &&
    covers(state.visibleSnapshot, before.snapshot)
  );
}
