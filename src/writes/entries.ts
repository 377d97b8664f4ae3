/** What the journal says of calls. */
import type { ProblemCode } from '../errors.js';
import type { Entry } from '../store/journal.js';

export function appliedEntry(mutator: string, mutationID?: number): Entry {
  return { mutator, outcome: 'applied', mutationID };
}

/** Without the name of a mutator that does not exist: that is whatever its caller thought of. */
export function failedEntry(mutator: string, outcome: ProblemCode, mutationID?: number): Entry {
  return { mutator: outcome === 'unknown-mutator' ? null : mutator, outcome, mutationID };
}
