import { isDeepStrictEqual } from 'node:util';
import { BoundedMap } from '../bounded-map.js';
import type { Table } from '../catalog/tables.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { Problem, SetupError } from '../errors.js';
import { digest } from '../protocol/cookie.js';
import type { Header } from '../store/header.js';
import { refusedViews } from '../store/refusals.js';
import type { BoundView, ClientViews, ViewPart, ViewQuery } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { type Installation, knows, narrow, readInstallation } from './installation.js';

/** The age at which the cluster and the tables' shape are read again. A change to either resets clients this soon. */
const maxAgeMs = 1000;

/** Limits each statement: a connection that died silently must not block the next reading. */
const timeoutMs = 5000;

/** How many texts of queries have a short name. */
const keptTexts = 1000;

/** How many users' views are remembered. */
const keptUsers = 10_000;

/** How many times an answer is attempted while the tables keep changing. */
const maxAttempts = 5;

/** The input of the views, and what else the client view is to have. */
export interface ClientViewInput<Context> extends ViewInput<Context> {
  /** Whether it includes the refused mutations of the user and profile. Default false. */
  readonly refused?: boolean | undefined;
}

/** The views of one user, and the installation as far as it concerns them. */
export interface Bound {
  readonly installation: Installation;
  readonly views: readonly BoundView[];
  /** Identifies the user, the views with their parameters, and the shape of the tables. */
  readonly viewsDigest: string;
  /** Identifies the views without their parameters, and the shape of the tables. */
  readonly formDigest: string;
}

/** A statement found that a table is no longer what the installation says. */
export class OutdatedError extends Problem {
  /** The header that the statement returned all the same, if there was a cookie. */
  readonly header: Header | undefined;

  constructor(header?: Header) {
    super('unavailable', 'The tables are being altered; try again later');
    this.header = header;
  }
}

/** An installation, and what has been found out for it. */
interface Known {
  readonly installation: Installation;
  /** The installation as far as it concerns some tables, by their OIDs. */
  readonly narrowed: BoundedMap<string, Installation>;
  /** What users see, by what `keyOf` returns. */
  readonly bound: BoundedMap<string, Bound>;
}

interface Reading {
  /** No earlier than this, it was what another reading would have found. */
  at: number;
  readonly known: Promise<Known>;
}

/** The installation as it was at most a second ago, with the views that fit it. */
export class CurrentInstallation<Context extends UserContext> {
  readonly #db: Database;
  readonly #views: ClientViews<Context>;
  /** By OID: every table that any view has read. */
  readonly #tables = new Map<number, Table>();
  /** Short names for the texts of queries. */
  readonly #texts = new BoundedMap<string, number>(keptTexts);
  #newest = 0;
  #read: Reading | undefined;
  #known: Known | undefined;

  constructor(db: Database, views: ClientViews<Context>) {
    this.#db = { ...db, query: (statement) => db.query({ timeoutMs, ...statement }) };
    this.#views = views;
  }

  /**
   * Returns the views of one user, and the installation as far as it concerns them. The result must not depend on which
   * queries other users have, since other servers have not seen those.
   * @param part if given, this part of the views alone
   * @throws SetupError if a view cannot be served, or changes to its tables are not captured.
   */
  async bind(input: ClientViewInput<Context>, part?: ViewPart): Promise<Bound> {
    return (await this.#bind(input, part)).bound;
  }

  /**
   * Runs work with what `bind` returns. If the work throws `OutdatedError`, reads the installation again and runs the
   * work once more, with the error as its second argument; a bounded number of times.
   * @throws what `bind` and the work throw.
   */
  async serve<T>(
    input: ClientViewInput<Context>,
    work: (bound: Bound, last?: OutdatedError) => Promise<T>,
    part?: ViewPart,
  ): Promise<T> {
    let last: OutdatedError | undefined;
    for (let attempt = 1; ; attempt++) {
      const { bound, reading } = await this.#bind(input, part);
      try {
        return await work(bound, last);
      } catch (error) {
        if (!(error instanceof OutdatedError) || attempt === maxAttempts) throw error;
        last = error;
        if (this.#read === reading) this.#read = undefined;
      }
    }
  }

  async #bind(input: ClientViewInput<Context>, part?: ViewPart): Promise<{ bound: Bound; reading: Reading }> {
    const { userID } = input.ctx;
    const queries = this.#views.queries(input, { own: input.refused ? refusedViews : undefined, part });
    const key = this.#keyOf(userID, queries);
    for (;;) {
      const reading = this.#current();
      const known = await reading.known;
      const found = key === undefined ? undefined : known.bound.get(key);
      if (found) return { bound: found, reading };
      const views = await this.#views.bindQueries(queries, known.installation.shape);
      const narrowed = this.#narrow(known, views);
      if (!narrowed) continue;
      const bound = { installation: narrowed, views, ...digestsOf(userID, narrowed, views) };
      if (key !== undefined) known.bound.set(key, bound);
      return { bound, reading };
    }
  }

  /** Returns undefined if the reading does not know all tables of the views; the next one will. */
  #narrow({ installation, narrowed }: Known, views: readonly BoundView[]): Installation | undefined {
    const tables = views.flatMap((view) => view.tables);
    const oids = tables.map(({ oid }) => oid).join();
    const found = narrowed.get(oids);
    if (found) return found;
    const unknown = tables.filter((table) => !knows(installation, table.oid));
    if (unknown.length > 0) {
      this.#follow(unknown);
      return undefined;
    }
    const concerned = narrow(installation, tables);
    narrowed.set(oids, concerned);
    return concerned;
  }

  /**
   * The installation with all tables that any view has read. As long as its shape stays the same, so does what `bind`
   * returns. It is another object once it has been read again.
   */
  async present(): Promise<Installation> {
    return (await this.#current().known).installation;
  }

  /**
   * Nothing has been committed between two times of the clock: what was read since the first is as good as if it had been
   * read at the second.
   */
  remained(since: number, until: number): void {
    if (this.#read && this.#read.at >= since) this.#read.at = Math.max(this.#read.at, until);
  }

  /** Another pull may have added the tables in the meantime: then the reading that it started serves this one too. */
  #follow(tables: readonly Table[]): void {
    const added = tables.filter((table) => !this.#tables.has(table.oid));
    for (const table of added) this.#tables.set(table.oid, table);
    if (added.length > 0) this.#read = undefined;
  }

  /**
   * Identifies a user's queries. Undefined if a value is an object: the driver may write two of them differently that
   * are the same in JSON.
   */
  #keyOf(userID: string, queries: readonly ViewQuery[]): string | undefined {
    const parts: unknown[] = [userID];
    for (const { name, text, values, key, prefix } of queries) {
      if (!values.every(isPlain)) return undefined;
      parts.push(name, this.#nameOf(text), values, key, prefix);
    }
    return JSON.stringify(parts);
  }

  #nameOf(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, ++this.#newest);
    return this.#newest;
  }

  #current(): Reading {
    if (!this.#read || Date.now() - this.#read.at > maxAgeMs) {
      const read: Reading = { at: Date.now(), known: this.#readAgain() };
      this.#read = read;
      // A fault of the installation may be remembered. If it could not be read, that may be over a moment later.
      read.known.catch((error: unknown) => {
        if (this.#read === read && !(error instanceof SetupError)) this.#read = undefined;
      });
    }
    return this.#read;
  }

  /** Mostly, nothing has changed, and what is known remains true. */
  async #readAgain(): Promise<Known> {
    const installation = await readInstallation(this.#db, [...this.#tables.values()]);
    const last = this.#known;
    this.#known =
      last && isDeepStrictEqual(last.installation, installation)
        ? { ...last, installation }
        : { installation, narrowed: new BoundedMap(keptTexts), bound: new BoundedMap(keptUsers) };
    return this.#known;
  }
}

/** Whether the driver writes two such values alike only if they are alike in JSON. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
}

function digestsOf(
  userID: string,
  { shape }: Installation,
  views: readonly BoundView[],
): Pick<Bound, 'viewsDigest' | 'formDigest'> {
  return {
    viewsDigest: digest([shape, userID, ...views.flatMap(({ view, literals }) => [view.digest, ...literals])]),
    formDigest: digest([shape, ...views.map(({ view }) => view.digest)]),
  };
}
