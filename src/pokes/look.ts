import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { readTail, type TailBatch } from '../store/tail.js';
import type { CompiledView } from '../view/compile.js';
import { askEach } from './ask-each.js';
import type { Audiences, Listener } from './audiences.js';
import { continues, planPokes, quick, withMutations } from './plan-pokes.js';
import type { Postponed } from './postponed.js';

/**
 * How long a look keeps asking, and how long each of its questions may take. What takes longer does not hold up the
 * next look.
 */
const askingMs = 500;

/** The point up to which listeners have been told about changes. */
export interface Base {
  readonly snapshot: Snapshot;
  readonly installID: string;
}

export interface LookParts {
  readonly db: Database;
  readonly audiences: Audiences;
  readonly postponed: Postponed;
  /** Called when a question fails; all listeners that it was about are then poked. */
  onFailure(view: CompiledView, error: unknown): void;
}

/**
 * Pokes the listeners that are affected by what has been committed since the base. What has changed, and which
 * listeners that affects, is read in one snapshot. Otherwise, a table that changes between the two would be read as if
 * it had always been that way, and two transactions could be mistaken for one.
 *
 * @returns the base for the next look
 */
export function look(base: Base | undefined, parts: LookParts): Promise<Base> {
  const { db, audiences } = parts;
  return db.atOneMoment(async (query) => {
    const batch = await readTail({ query }, base?.snapshot, [...audiences.ids().values()]);
    if (base && !continues(base.snapshot, base.installID, batch)) audiences.poke(audiences.listeners());
    else if (base) await tell(query, base.snapshot, batch, parts);
    return { snapshot: batch.snapshot, installID: batch.installID };
  });
}

async function tell(query: Database['query'], since: Snapshot, batch: TailBatch, parts: LookParts): Promise<void> {
  const { audiences, postponed, onFailure } = parts;
  const told = new Set<Listener>();
  const onFound = (listeners: Iterable<Listener>) => {
    const others = [...new Set(listeners)].filter((listener) => !told.has(listener));
    for (const listener of others) told.add(listener);
    audiences.poke(others);
  };
  const postpone = (view: CompiledView, listeners: readonly Listener[]) => postponed.add(view, since, listeners);
  onFound(withMutations(audiences.listeners(), batch));
  const plan = planPokes({
    audiences: audiences.all(),
    told,
    batch,
    ids: audiences.ids(),
    bounds: quick,
    isPostponed: (view) => postponed.has(view),
  });
  onFound(plan.poked);
  for (const { view, listeners } of plan.postponed) postpone(view, listeners);
  await askEach(
    plan.questions,
    { query, since, batch, tables: audiences.tables() },
    {
      told,
      limitMs: askingMs,
      onFound,
      onOvertime: postpone,
      onFailure(view, listeners, error) {
        onFailure(view, error);
        onFound(listeners);
      },
    },
  );
}
