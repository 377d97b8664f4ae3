import type { Table } from '../db/catalog.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { type Installation, knows, narrow, readInstallation } from '../store/installation.js';
import type { BoundView, ClientViews } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';

/** How old knowledge of the cluster and the tables' shape may be. A change of either resets clients within this time. */
const maxAgeMs = 1000;

/** A connection that is dead without saying so must not keep the knowledge from being read anew. */
const timeoutMs = 5000;

/** The installation as it was at most a second ago, with the views that fit it. */
export class CurrentInstallation<Context> {
  readonly #db: Database;
  readonly #views: ClientViews<Context>;
  /** By OID: every table that any view has read. */
  readonly #tables = new Map<number, Table>();
  #read: { at: number; installation: Promise<Installation> } | undefined;

  constructor(db: Database, views: ClientViews<Context>) {
    this.#db = { ...db, query: (statement) => db.query({ timeoutMs, ...statement }) };
    this.#views = views;
  }

  /**
   * The views of one user, and the installation as far as it concerns them: which queries other users have must not matter, since
   * other servers have not seen them.
   * @throws SetupError when a view cannot be served, or changes of its tables are not captured.
   */
  async bind(input: ViewInput<Context>): Promise<{ installation: Installation; views: readonly BoundView[] }> {
    for (;;) {
      const installation = await this.#current();
      const views = await this.#views.bind(input, installation.shape);
      const tables = views.flatMap((view) => view.tables);
      const unknown = tables.filter((table) => !knows(installation, table.oid));
      if (unknown.length === 0) return { installation: narrow(installation, tables), views };
      this.#follow(unknown);
    }
  }

  /** With all tables that any view has read: while its shape is the same, so is what `bind` answers. Another object once it has been read anew. */
  present(): Promise<Installation> {
    return this.#current();
  }

  /** Another pull may have followed them in the meantime: then what it has begun to read serves this one too. */
  #follow(tables: readonly Table[]): void {
    const added = tables.filter((table) => !this.#tables.has(table.oid));
    for (const table of added) this.#tables.set(table.oid, table);
    if (added.length > 0) this.#read = undefined;
  }

  #current(): Promise<Installation> {
    if (!this.#read || Date.now() - this.#read.at > maxAgeMs) {
      const read = { at: Date.now(), installation: readInstallation(this.#db, [...this.#tables.values()]) };
      this.#read = read;
      // What is wrong with the installation may be remembered; that it could not be read says nothing a moment later.
      read.installation.catch((error: unknown) => {
        if (this.#read === read && !(error instanceof SetupError)) this.#read = undefined;
      });
    }
    return this.#read.installation;
  }
}
