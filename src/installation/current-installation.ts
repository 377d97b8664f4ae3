import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { Problem, SetupError } from '../errors.js';
import type { Header } from '../store/header.js';
import type { BoundView, ClientViews } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { type Installation, knows, narrow, readInstallation } from './installation.js';

/**
 * How old knowledge of the cluster and the tables' shape may be. A change of either resets clients within this time.
 */
const maxAgeMs = 1000;

/** A connection that is dead without saying so must not keep the knowledge from being read anew. */
const timeoutMs = 5000;

/** So often is an answer begun while the tables change under it. */
const maxAttempts = 5;

/** What a caller goes by. */
export interface Bound {
  readonly installation: Installation;
  readonly views: readonly BoundView[];
}

/** A statement has found a table to be another than the installation says. */
export class OutdatedError extends Problem {
  /** What it has said all the same of the cookie, where there was one. */
  readonly header: Header | undefined;

  constructor(header?: Header) {
    super('unavailable', 'The tables are being changed now; send the request again later');
    this.header = header;
  }
}

interface Reading {
  readonly at: number;
  readonly installation: Promise<Installation>;
  /** As far as it concerns some tables, by their OIDs. */
  readonly narrowed: Map<string, Installation>;
}

/** The installation as it was at most a second ago, with the views that fit it. */
export class CurrentInstallation<Context> {
  readonly #db: Database;
  readonly #views: ClientViews<Context>;
  /** By OID: every table that any view has read. */
  readonly #tables = new Map<number, Table>();
  #read: Reading | undefined;

  constructor(db: Database, views: ClientViews<Context>) {
    this.#db = { ...db, query: (statement) => db.query({ timeoutMs, ...statement }) };
    this.#views = views;
  }

  /**
   * The views of one user, and the installation as far as it concerns them: which queries other users have must not
   * matter, since other servers have not seen them.
   * @throws SetupError when a view cannot be served, or changes of its tables are not captured.
   */
  async bind(input: ViewInput<Context>): Promise<Bound> {
    return (await this.#bind(input)).bound;
  }

  /**
   * Has work done by what `bind` says, and done anew when it throws `OutdatedError`: then the installation is read
   * again first, and the work is given the error.
   * @throws what `bind` and the work throw.
   */
  async serve<T>(input: ViewInput<Context>, work: (bound: Bound, last?: OutdatedError) => Promise<T>): Promise<T> {
    let last: OutdatedError | undefined;
    for (let attempt = 1; ; attempt++) {
      const { bound, reading } = await this.#bind(input);
      try {
        return await work(bound, last);
      } catch (error) {
        if (!(error instanceof OutdatedError) || attempt === maxAttempts) throw error;
        last = error;
        if (this.#read === reading) this.#read = undefined;
      }
    }
  }

  async #bind(input: ViewInput<Context>): Promise<{ bound: Bound; reading: Reading }> {
    for (;;) {
      const reading = this.#current();
      const installation = await reading.installation;
      const views = await this.#views.bind(input, installation.shape);
      const tables = views.flatMap((view) => view.tables);
      const oids = tables.map(({ oid }) => oid).join();
      const narrowed = reading.narrowed.get(oids);
      if (narrowed) return { bound: { installation: narrowed, views }, reading };
      const unknown = tables.filter((table) => !knows(installation, table.oid));
      if (unknown.length === 0) reading.narrowed.set(oids, narrow(installation, tables));
      else this.#follow(unknown);
    }
  }

  /**
   * With all tables that any view has read: while its shape is the same, so is what `bind` answers. Another object once
   * it has been read anew.
   */
  present(): Promise<Installation> {
    return this.#current().installation;
  }

  /** Another pull may have followed them in the meantime: then what it has begun to read serves this one too. */
  #follow(tables: readonly Table[]): void {
    const added = tables.filter((table) => !this.#tables.has(table.oid));
    for (const table of added) this.#tables.set(table.oid, table);
    if (added.length > 0) this.#read = undefined;
  }

  #current(): Reading {
    if (!this.#read || Date.now() - this.#read.at > maxAgeMs) {
      const installation = readInstallation(this.#db, [...this.#tables.values()]);
      const read = { at: Date.now(), installation, narrowed: new Map<string, Installation>() };
      this.#read = read;
      // What is wrong with the installation may be remembered; that it could not be read says nothing a moment later.
      read.installation.catch((error: unknown) => {
        if (this.#read === read && !(error instanceof SetupError)) this.#read = undefined;
      });
    }
    return this.#read;
  }
}
