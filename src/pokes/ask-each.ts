import type { Database } from '../db/database.js';
import { isCancelled } from '../db/sqlstate.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { findAffected } from '../store/affected.js';
import { changesOf } from '../store/patches/patch-sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import type { TailBatch } from '../store/tail.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { Listener } from './audiences.js';
import type { SeatedQuestion } from './plan-pokes.js';

/** What the questions are about: all changes since a snapshot, up to the snapshot that `query` sees. */
export interface Subject {
  readonly query: Database['query'];
  readonly since: Snapshot;
  readonly batch: TailBatch;
  readonly tables: readonly SyncedTable[];
}

/** How long to wait for answers, and what to do with them. */
export interface Answers {
  /** The listeners that need not be asked about any more. */
  readonly told: ReadonlySet<Listener>;
  /** How long each question may take; after this time, no more are begun. */
  readonly limitMs: number;
  onFound(listeners: readonly Listener[]): void;
  /**
   * Asking took too long, or there was no time left for it. The listeners are all those that the question was about.
   * What has not been asked comes first: it may be quick to answer.
   */
  onOvertime(view: CompiledView, listeners: readonly Listener[]): void;
  onFailure(view: CompiledView, listeners: readonly Listener[], error: unknown): void;
}

/** Asks each question separately, so that one that fails or takes too long does not fail the others. Never rejects. */
export async function askEach(
  questions: readonly SeatedQuestion[],
  { query, since, batch, tables }: Subject,
  { told, limitMs, onFound, onOvertime, onFailure }: Answers,
): Promise<void> {
  const changes = changesOf(tables, new Map(batch.changes.map(({ table, rows }) => [table, rows])));
  const until = performance.now() + limitMs;
  const slow: [CompiledView, readonly Listener[]][] = [];
  for (const { view, mode, seats: all } of questions) {
    const seats = all.filter(({ listeners }) => !listeners.every((listener) => told.has(listener)));
    const listeners = seats.flatMap((seat) => seat.listeners);
    if (seats.length === 0) continue;
    if (performance.now() > until) {
      onOvertime(view, listeners);
      continue;
    }
    const question = { view, mode, seats: seats.map(({ parameters }) => parameters), timeoutMs: limitMs };
    const own = changes.filter(({ table }) => view.occurrenceTables.includes(table.oid));
    try {
      const affected = await findAffected({ query }, question, own, since);
      onFound(affected.flatMap((seat) => seats[seat]!.listeners));
    } catch (error) {
      if (isCancelled(error)) slow.push([view, listeners]);
      else onFailure(view, listeners, error);
    }
  }
  for (const [view, listeners] of slow) onOvertime(view, listeners);
}
