/** Compares two observed states of a database. Pure. */
import { covers } from '../protocol/snapshot.js';
import type { DatabaseState } from '../store/polls/observation.js';

/**
 * True if both states are of the same database server, with the same role. Another host can answer some statements of
 * this process: a standby, or a former primary, whose newest transaction IDs the new primary assigns again.
 */
export function isSameServer(one: DatabaseState, other: DatabaseState): boolean {
  return one.serverStart === other.serverStart && one.recovery === other.recovery;
}

/** True if a state is a later one of the same history. Its poll must have named the earlier state's heartbeat. */
export function isContinuedBy(before: DatabaseState, state: DatabaseState): boolean {
  return (
    isSameServer(before, state) &&
    state.installID === before.installID &&
    state.database === before.database &&
    !state.diverged &&
    (state.recovery || state.nextXid >= before.nextXid) &&
    // Otherwise, changes in between may have been deleted.
    before.snapshot.xmin >= state.horizon &&
    covers(state.visibleSnapshot, before.snapshot)
  );
}
