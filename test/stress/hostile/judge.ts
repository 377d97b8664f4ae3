/** Judges each call. It must be applied once, or reported. */
import type { Ledger, LoggedCall, LoggedClient } from './ledger.js';

/** A failure, and the last events of its client. */
export interface Failure {
  readonly slot: number;
  readonly text: string;
  readonly reports?: LoggedClient['reports'];
}

export interface Verdict {
  /** All failures, as texts. */
  readonly failures: readonly Failure[];
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * @param executions The number of executions of each call in the database.
 * @param confirmed The last confirmed mutation of each client.
 */
export function judgeCalls(
  ledger: Ledger,
  executions: ReadonlyMap<string, number>,
  confirmed: ReadonlyMap<string, number>,
): Verdict {
  const failures: Failure[] = [];
  const counts: Record<string, number> = {};
  for (const [id, count] of executions) {
    if (count > 1) failures.push({ slot: Number(id.split('/')[0]), text: `call ${id} was applied ${count} times` });
  }
  for (const call of ledger.calls.values()) {
    const outcome = judge(call, ledger, executions.has(call.id));
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    const about = `${call.kind} ${call.id} of ${call.client.user}, ${call.outcome} ${call.code}, mutation ${call.mutation} (confirmed up to ${confirmed.get(`${call.mutation}`.split(' ')[0]!)}), ${call.isSaved ? 'saved' : 'not saved'}, in a tab that ${call.client.hasEnded ? 'has ended' : 'is open'}`;
    if (outcome.startsWith('WRONG')) {
      failures.push({ slot: call.client.slot, text: `${outcome}: ${about}`, reports: call.client.reports });
    }
  }
  for (const { client, what } of ledger.stuck) {
    failures.push({ slot: client.slot, text: `online although stuck: ${client.name}: ${what}` });
  }
  return { failures, counts };
}

/** The outcome of a call. Begins with WRONG if it is not allowed. */
function judge(call: LoggedCall, ledger: Ledger, isApplied: boolean): string {
  const { outcome, client, mutation, kind } = call;
  const isRefused = mutation !== null && ledger.refused.has(mutation);
  if (outcome === 'rejected') return isApplied ? 'WRONG: rejected and applied' : 'rejected';
  if (isRefused) return isApplied ? 'WRONG: refused and applied' : 'refused';
  if (isApplied) return kind === 'refuse' ? 'WRONG: applied although the mutator throws' : 'applied';
  if (ledger.isSignedOut(call)) return 'deleted by a sign-out';
  if (outcome === 'none') return client.hasEnded ? 'cut off before it resolved' : 'WRONG: never settled';
  // The server records a refusal with the mutation's number, so without the number there is nothing to find.
  if (mutation === null && kind !== 'add' && kind !== 'remove') return 'refused, perhaps: confirmed at once';
  // The status said that the call is only in memory.
  if (client.hasEnded && !call.isSaved) return 'lost with its tab, as the status said';
  return 'WRONG: lost';
}
