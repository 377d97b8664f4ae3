import type { Database } from '../db/database.js';
import { isCancelled } from '../db/sqlstate.js';
import { describeError, type Logger } from '../log.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { findAffectedCohorts } from '../store/affected-cohorts.js';
import { changedTablesOf } from '../store/patches/patch-sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import type { NewChanges } from '../store/polls/new-changes.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { CohortQuestion } from './plan-pokes.js';
import type { Subscriber } from './subscription-index.js';

/** The changes that the questions are about: all since a snapshot, up to the snapshot that `query` sees. */
export interface Subject {
  readonly query: Database['query'];
  readonly since: Snapshot;
  readonly newChanges: NewChanges;
  readonly tables: readonly SyncedTable[];
}

/** The time limit for answers, and what to do with them. */
export interface Answers {
  /** The subscribers that have already been poked. */
  readonly alreadyPoked: ReadonlySet<Subscriber>;
  /** The time limit of each question. After this time, no further question starts. */
  readonly limitMs: number;
  onAffected(subscribers: readonly Subscriber[]): void;
  /**
   * Called with all subscribers of a question that took too long, or that was not asked for lack of time. Questions
   * that were not asked come first, because they may be quick to answer.
   */
  onTimeout(view: CompiledView, subscribers: readonly Subscriber[]): void;
  onFailure(view: CompiledView, subscribers: readonly Subscriber[], error: unknown): void;
}

/** Asks each question separately, so that a failed or slow one does not affect the others. Never rejects. */
export async function askEach(
  questions: readonly CohortQuestion[],
  { query, since, newChanges, tables }: Subject,
  { alreadyPoked, limitMs, onAffected, onTimeout, onFailure }: Answers,
): Promise<void> {
  const changes = changedTablesOf(tables, new Map(newChanges.changes.map(({ table, rows }) => [table, rows])));
  const until = performance.now() + limitMs;
  const slow: [CompiledView, readonly Subscriber[]][] = [];
  for (const { view, mode, cohorts: all } of questions) {
    const cohorts = all.filter(({ subscribers }) => !subscribers.every((subscriber) => alreadyPoked.has(subscriber)));
    const subscribers = cohorts.flatMap((cohort) => cohort.subscribers);
    if (cohorts.length === 0) continue;
    if (performance.now() > until) {
      onTimeout(view, subscribers);
      continue;
    }
    const question = { view, mode, cohorts: cohorts.map(({ parameters }) => parameters), timeoutMs: limitMs };
    const viewChanges = changes.filter(({ table }) => view.occurrenceTables.includes(table.oid));
    try {
      const affected = await findAffectedCohorts({ query }, question, viewChanges, since);
      onAffected(affected.flatMap((index) => cohorts[index]!.subscribers));
    } catch (error) {
      if (isCancelled(error)) slow.push([view, subscribers]);
      else onFailure(view, subscribers, error);
    }
  }
  for (const [view, subscribers] of slow) onTimeout(view, subscribers);
}

/** Logs that a question has failed. All subscribers that it was about are then poked. */
export function logFailedQuestion(log: Logger, { name }: CompiledView, error: unknown): void {
  log.warn(
    { view: name, error: describeError(error) },
    'Cannot determine which clients a change affects; all clients that see the view are poked',
  );
}
