/** The current rows of the views, if they can be read. */
import type { Client } from 'pg';
import { type Columns, describe, type Rows, read, Unreadable, users } from './expected.js';
import { count, type Tally } from './tally.js';
import type { FuzzView } from './view.js';

/** Has another number whenever readers may see other data. */
export interface Versioned {
  readonly version: number;
}

export class Truth {
  readonly #client: Client;
  readonly #data: Versioned;
  readonly #tally: Tally;
  readonly #columns = new Map<FuzzView, Columns>();
  readonly #cache = new Map<string, { version: number; rows: Rows }>();

  constructor(client: Client, data: Versioned, tally: Tally) {
    this.#client = client;
    this.#data = data;
    this.#tally = tally;
  }

  /** The views that are still compared. */
  get views(): readonly FuzzView[] {
    return [...this.#columns.keys()];
  }

  /** Adds a view, if it can be read for every user. */
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

  /** @param reason counted, if given */
  forget(view: FuzzView, reason?: string): void {
    if (reason !== undefined) count(this.#tally.ended, reason);
    this.#columns.delete(view);
  }

  /**
   * Returns the rows for a user's values; undefined if the view is not compared any more.
   * @param owner the user who receives the rows
   */
  async rows(view: FuzzView, user: number, owner = user): Promise<Rows | undefined> {
    if (!this.#columns.has(view)) return undefined;
    const id = `${user} ${owner} ${view.name}`;
    const { version } = this.#data;
    const cached = this.#cache.get(id);
    if (cached?.version === version) return cached.rows;
    try {
      const rows = await this.#read(view, user, owner);
      this.#cache.set(id, { version, rows });
      return rows;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      count(this.#tally.ended, error.message.replace(/"[^"]*"/g, '"…"'));
      this.forget(view);
      return undefined;
    }
  }

  /** Reads with a client that has other settings, in the order in which rows arrive. */
  async readBy(client: Client, view: FuzzView, user: number, owner = user): Promise<Rows | undefined> {
    const columns = this.#columns.get(view);
    return columns && read(client, view, columns, user, owner).catch(() => undefined);
  }

  /** Reads the columns again, which DDL may have changed. Views without their columns are removed. */
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

  #read(view: FuzzView, user: number, owner = user): Promise<Rows> {
    return read(this.#client, view, this.#columns.get(view)!, user, owner);
  }
}
