/** What the views hold now, as far as that can be told. */
import type { Client } from 'pg';
import { type Columns, describe, type Rows, read, Unreadable, users } from './expected.js';
import { count, type Tally } from './tally.js';
import type { FuzzView } from './view.js';

/** Says by another number that what a reader sees may have changed. */
export interface Versioned {
  readonly version: number;
}

export class Truth {
  readonly #client: Client;
  readonly #data: Versioned;
  readonly #tally: Tally;
  readonly #columns = new Map<FuzzView, Columns>();
  readonly #known = new Map<string, { version: number; rows: Rows }>();

  constructor(client: Client, data: Versioned, tally: Tally) {
    this.#client = client;
    this.#data = data;
    this.#tally = tally;
  }

  /** Those that are still compared. */
  get views(): readonly FuzzView[] {
    return [...this.#columns.keys()];
  }

  /** Takes up a view, if it can be read for every user. */
  async admit(view: FuzzView): Promise<boolean> {
    try {
      if (view.key.length === 0) throw new Unreadable('it has no key');
      this.#columns.set(view, await describe(this.#client, view));
      for (const user of users) await this.#read(view, user);
      return true;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      count(this.#tally.unusable, error.message.replace(/"[^"]*"/g, '"…"'));
      this.forget(view);
      return false;
    }
  }

  forget(view: FuzzView): void {
    this.#columns.delete(view);
  }

  /** Undefined where the view is not compared, or from now on no longer. */
  async rows(view: FuzzView, user: number): Promise<Rows | undefined> {
    if (!this.#columns.has(view)) return undefined;
    const id = `${user} ${view.name}`;
    const { version } = this.#data;
    const known = this.#known.get(id);
    if (known?.version === version) return known.rows;
    try {
      const rows = await this.#read(view, user);
      this.#known.set(id, { version, rows });
      return rows;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      count(this.#tally.ended, error.message.replace(/"[^"]*"/g, '"…"'));
      this.forget(view);
      return undefined;
    }
  }

  /** By a client of other settings, as it comes. */
  async readBy(client: Client, view: FuzzView, user: number): Promise<Rows | undefined> {
    const columns = this.#columns.get(view);
    return columns && read(client, view, columns, user).catch(() => undefined);
  }

  /** The columns may be others after DDL. Those that are gone take their views with them. */
  async refresh(): Promise<void> {
    for (const view of this.views) {
      try {
        this.#columns.set(view, await describe(this.#client, view));
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        count(this.#tally.ended, `DDL: ${error.message.replace(/"[^"]*"/g, '"…"')}`);
        this.forget(view);
      }
    }
  }

  #read(view: FuzzView, user: number): Promise<Rows> {
    return read(this.#client, view, this.#columns.get(view)!, user);
  }
}
