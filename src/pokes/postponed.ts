import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { readTail } from '../store/tail.js';
import type { CompiledView } from '../view/compile/compile.js';
import { askEach } from './ask-each.js';
import type { Audience, Audiences, Listener, Seat } from './audiences.js';
import { planPokes, thorough } from './plan-pokes.js';

/**
 * The longest that an answer may take; after that, all listeners are poked. After a bulk change, the pull of each
 * client that is poked in vain takes longer than this.
 */
export const patienceMs = 3_000;
const longestRestMs = 1_000;

export interface PostponedOptions {
  readonly db: Database;
  readonly audiences: Audiences;
  /** Called when a question fails; all listeners that it was about are then poked. */
  onFailure(view: CompiledView, error: unknown): void;
}

interface Debt {
  /** The snapshot up to which the view has been asked about. */
  readonly since: Snapshot;
  readonly listeners: Set<Listener>;
  readonly deadline: number;
}

/**
 * Views that take long to ask about. They are asked about one after the other, each in a snapshot of its own, while
 * looks continue. In the end, every listener that is affected has been poked.
 */
export class Postponed {
  readonly #options: PostponedOptions;
  readonly #debts = new Map<CompiledView, Debt>();
  #current: CompiledView | undefined;
  #isBusy = false;

  constructor(options: PostponedOptions) {
    this.#options = options;
  }

  has(view: CompiledView): boolean {
    return this.#current === view || this.#debts.has(view);
  }

  /** @param listeners all listeners that see the view and have not been poked since the snapshot */
  add(view: CompiledView, since: Snapshot, listeners: readonly Listener[]): void {
    const debt = this.#debts.get(view) ?? { since, listeners: new Set(), deadline: performance.now() + patienceMs };
    for (const listener of listeners) debt.listeners.add(listener);
    this.#debts.set(view, debt);
    if (!this.#isBusy) void this.#work();
  }

  clear(): void {
    this.#debts.clear();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // This includes views that are added in the meantime.
    for (const [view, debt] of this.#debts) {
      this.#debts.delete(view);
      this.#current = view;
      const started = performance.now();
      await this.#settle(view, debt);
      this.#current = undefined;
      const restMs = Math.min(2 * (performance.now() - started), longestRestMs);
      await sleep(restMs, undefined, { ref: false });
    }
    this.#isBusy = false;
  }

  async #settle(view: CompiledView, debt: Debt): Promise<void> {
    const { audiences, onFailure } = this.#options;
    const audience = audienceNow(audiences, view);
    const seated = new Set([...audience.seats.values()].flatMap(({ listeners }) => [...listeners]));
    // Listeners that have left the view's seats since are not among those asked about.
    audiences.poke([...debt.listeners].filter((listener) => !seated.has(listener)));
    const limitMs = Math.ceil(debt.deadline - performance.now());
    if (limitMs <= 0) return audiences.poke(seated);
    await this.#ask(audience, debt, limitMs).catch((error: unknown) => {
      onFailure(view, error);
      audiences.poke(seated);
    });
  }

  #ask(audience: Audience, { since }: Debt, limitMs: number): Promise<void> {
    const { db, audiences, onFailure } = this.#options;
    return db.atOneMoment(async (query) => {
      const ids = audiences.ids();
      const batch = await readTail({ query }, since, [...ids.values()]);
      const { poked: told, questions } = planPokes({
        audiences: [audience],
        told: new Set(),
        batch,
        ids,
        bounds: thorough,
        isPostponed: () => false,
      });
      audiences.poke(told);
      await askEach(
        questions,
        { query, since, batch, tables: audiences.tables() },
        {
          told,
          limitMs,
          onFound: (listeners) => audiences.poke(listeners),
          onOvertime: (_, listeners) => audiences.poke(listeners),
          onFailure(view, listeners, error) {
            onFailure(view, error);
            audiences.poke(listeners);
          },
        },
      );
    });
  }
}

/** The listeners that see a view now. The copy stays the same, even if listeners move while it is asked about them. */
function audienceNow(audiences: Audiences, view: CompiledView): Audience {
  const seats = audiences.of(view)?.seats ?? new Map<string, Seat>();
  const copies = [...seats].map(([key, seat]) => [key, { ...seat, listeners: new Set(seat.listeners) }] as const);
  return { view, seats: new Map(copies) };
}
