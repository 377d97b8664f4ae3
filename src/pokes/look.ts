import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { disconnectsID, readDisconnected } from '../store/disconnects.js';
import { readTail, type TailBatch } from '../store/tail.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { Looks } from '../window/looks.js';
import type { Window } from '../window/window.js';
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
  /** The window in which this was seen. */
  readonly window: Window;
}

/** Where the next look begins, and whether this one found anything that concerns listeners' tables or groups. */
export interface Looked {
  readonly base: Base;
  readonly hasNews: boolean;
}

export interface LookParts {
  readonly db: Database;
  readonly looks: Looks;
  readonly audiences: Audiences;
  readonly postponed: Postponed;
  /** Called with the users who have been disconnected, before any listener is poked. */
  onDisconnect(userIDs: ReadonlySet<string>): void;
  /** Called when a question fails; all listeners that it was about are then poked. */
  onFailure(view: CompiledView, error: unknown): void;
}

/**
 * Pokes the listeners that are affected by what has been committed since the base. If the window says that nothing was,
 * no more is asked. Otherwise what has changed, and which listeners that affects, is read in one snapshot: a table that
 * changes between the two would be read as if it had always been that way, and two transactions could be mistaken for
 * one.
 */
export async function look(base: Base | undefined, parts: LookParts): Promise<Looked> {
  const { db, looks, audiences, onDisconnect } = parts;
  const window = await looks.look();
  const { snapshot, installID } = window.header;
  const tables = [...audiences.ids().values(), disconnectsID];
  if (!base || isQuiet(window, base, tables)) return { base: { snapshot, installID, window }, hasNews: false };
  return db.atOneMoment(async (query) => {
    const batch = await readTail({ query }, base.snapshot, tables);
    if (batch.changes.some(({ table }) => table === disconnectsID)) {
      onDisconnect(await readDisconnected(query, base.snapshot));
    }
    if (!continues(base.snapshot, base.installID, batch)) audiences.poke(audiences.listeners());
    else await tell(query, base.snapshot, batch, parts);
    const next = { snapshot: batch.snapshot, installID: batch.installID, window };
    return { base: next, hasNews: batch.changes.length > 0 || batch.mutations > 0 };
  });
}

/** True if nothing has been committed since the base to these tables, nor for any client group. */
function isQuiet(window: Window, base: Base, tables: readonly number[]): boolean {
  const { snapshot } = base;
  const isKnown = window === base.window && window.lists(tables) && window.reaches(snapshot);
  return isKnown && !window.hasMoved(snapshot) && window.since(snapshot, tables).changed.length === 0;
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
