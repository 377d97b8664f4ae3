/** The audit log's entries for calls and mutations. */
import type { ProblemCode } from '../errors.js';
import type { AuditEntry } from '../store/audit-log.js';

export function appliedEntry(mutator: string, mutationID?: number): AuditEntry {
  return { mutator, outcome: 'applied', mutationID };
}

/** Omits the name of an unknown mutator, which is arbitrary input. */
export function failedEntry(mutator: string, outcome: ProblemCode, mutationID?: number): AuditEntry {
  return { mutator: outcome === 'unknown-mutator' ? null : mutator, outcome, mutationID };
}
