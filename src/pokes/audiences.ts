/** The listeners for pokes, by what they see. */
import type { SyncedTable } from '../store/patches/states.js';
import type { BoundView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';

/** What a listener sees, and the shape of the tables for which this was found out. */
export interface Outlook {
  readonly views: readonly BoundView[];
  readonly tables: readonly SyncedTable[];
  readonly shape: string;
}

/** A client that is to be poked when its client view has changed. */
export interface Listener {
  /** Undefined for all of the user's. */
  readonly clientGroupID: string | undefined;
  readonly userID: string;
  outlook: Outlook;
  /** The shape of all tables for which the outlook was last found out; undefined if the last attempt failed. */
  foundAt: string | undefined;
  /** Finds out what the listener sees now. */
  lookUp(): Promise<Outlook>;
  /** Hints that there is something to pull. Must not throw. */
  poke(): void;
}

/** All listeners with the same parameters of one view: the view has changed for all of them or for none. */
export interface Seat {
  readonly parameters: ViewParameters;
  readonly listeners: Set<Listener>;
}

/** All listeners that see one view. */
export interface Audience {
  readonly view: CompiledView;
  readonly seats: Map<string, Seat>;
}

/** A server's listeners, sorted into audiences as they come and go. */
export class Audiences {
  readonly #listeners = new Set<Listener>();
  readonly #audiences = new Map<CompiledView, Audience>();
  /** What `tables` returns, until a listener comes or goes: every look asks. */
  #tables: readonly SyncedTable[] | undefined;
  #ids: ReadonlyMap<number, number> | undefined;
  readonly #onPoke: () => void;

  /** @param onPoke called for each poke */
  constructor(onPoke: () => void = () => {}) {
    this.#onPoke = onPoke;
  }

  get size(): number {
    return this.#listeners.size;
  }

  listeners(): ReadonlySet<Listener> {
    return this.#listeners;
  }

  all(): Iterable<Audience> {
    return this.#audiences.values();
  }

  of(view: CompiledView): Audience | undefined {
    return this.#audiences.get(view);
  }

  /** The tables that any listener's views read, each once. */
  tables(): readonly SyncedTable[] {
    if (!this.#tables) {
      const tables = new Map<number, SyncedTable>();
      for (const { outlook } of this.#listeners) for (const table of outlook.tables) tables.set(table.id, table);
      this.#tables = [...tables.values()];
    }
    return this.#tables;
  }

  /** The change-log IDs of these tables, by OID. */
  ids(): ReadonlyMap<number, number> {
    this.#ids ??= new Map(this.tables().map(({ oid, id }) => [oid, id]));
    return this.#ids;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
    this.#forgetTables();
    for (const parameters of listener.outlook.views) {
      const { view, literals } = parameters;
      const audience = this.#audiences.get(view) ?? { view, seats: new Map<string, Seat>() };
      this.#audiences.set(view, audience);
      const key = literals.join();
      const seat = audience.seats.get(key) ?? { parameters, listeners: new Set() };
      audience.seats.set(key, seat);
      seat.listeners.add(listener);
    }
  }

  remove(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return;
    this.#forgetTables();
    for (const { view, literals } of listener.outlook.views) {
      const audience = this.#audiences.get(view);
      const key = literals.join();
      const seat = audience?.seats.get(key);
      seat?.listeners.delete(listener);
      if (seat?.listeners.size === 0) audience!.seats.delete(key);
      if (audience?.seats.size === 0) this.#audiences.delete(view);
    }
  }

  #forgetTables(): void {
    this.#tables = undefined;
    this.#ids = undefined;
  }

  /** Pokes those of the listeners that still listen. */
  poke(listeners: Iterable<Listener>): void {
    for (const listener of listeners) {
      if (!this.#listeners.has(listener)) continue;
      listener.poke();
      this.#onPoke();
    }
  }

  /** Changes what a listener sees. */
  move(listener: Listener, outlook: Outlook): void {
    if (!this.#listeners.has(listener)) return;
    this.remove(listener);
    listener.outlook = outlook;
    this.add(listener);
  }
}
