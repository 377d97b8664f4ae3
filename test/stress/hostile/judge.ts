/** Judges each call: applied once, or reported. */
import type { Ledger, LoggedCall, LoggedClient } from './ledger.js';

/** What must not be, and what its client has told last. */
export interface Failure {
  readonly slot: number;
  readonly text: string;
  readonly told?: LoggedClient['told'];
}

export interface Verdict {
  /** Everything that must not be: a text for each. */
  readonly failures: readonly Failure[];
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * @param executions how often the database has seen each call
 * @param confirmed the last mutation of each client that the server has confirmed
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
    if (outcome.startsWith('WRONG'))
      failures.push({ slot: call.client.slot, text: `${outcome}: ${about}`, told: call.client.told });
  }
  for (const { client, what } of ledger.stuck) {
    failures.push({ slot: client.slot, text: `online although stuck: ${client.name}: ${what}` });
  }
  return { failures, counts };
}

/** A call's fate, which begins with WRONG if it must not be. */
function judge(call: LoggedCall, ledger: Ledger, isApplied: boolean): string {
  const { outcome, client, mutation, kind } = call;
  const isRefused = mutation !== null && ledger.refused.has(mutation);
  if (outcome === 'rejected') return isApplied ? 'WRONG: rejected and applied' : 'rejected';
  if (isRefused) return isApplied ? 'WRONG: refused and applied' : 'refused';
  if (isApplied) return kind === 'refuse' ? 'WRONG: applied although the mutator throws' : 'applied';
  if (ledger.isSignedOut(call)) return 'deleted by a sign-out';
  if (outcome === 'none') return client.hasEnded ? 'cut off before it resolved' : 'WRONG: never settled';
  // The server records a refusal with the mutation; without its number, there is nothing to look for.
  if (mutation === null && kind !== 'add' && kind !== 'remove') return 'refused, perhaps: confirmed at once';
  // The status has said that it is in memory alone.
  if (client.hasEnded && !call.isSaved) return 'lost with its tab, as the status said';
  return 'WRONG: lost';
}
