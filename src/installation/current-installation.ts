import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { Problem } from '../errors.js';
import { digest } from '../protocol/cookie.js';
import type { Header } from '../store/header.js';
import type { SyncedTable } from '../store/patches/states.js';
import { refusedViews } from '../store/refusals.js';
import type { ReadColumns } from '../view/analysis/read-columns.js';
import type { BoundView, ClientViews, ViewPart } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { type Installation, knows, narrow } from './installation.js';
import { QueryKeys } from './query-keys.js';
import { type Known, type Reading, Readings } from './readings.js';

/** For how many lists of tables the installation is remembered. */
const keptLists = 1000;

/** How many users' views are remembered. */
const keptUsers = 10_000;

/** The length of a part of `viewDigests`: 72 bits. */
const partLength = 12;

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
  /**
   * The same in parts, for cookies of the second form: a digest of the user, then one of each view, with its parameters
   * and the shape of what it reads of its tables, in their order; joined with dots.
   */
  readonly viewDigests: string;
  /** The shapes of the tables, in the order of the installation; joined with dots. */
  readonly tableShapes: string;
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

/** What has been found out for an installation. */
interface Findings {
  /** The installation as far as it concerns some tables, by their OIDs. */
  readonly narrowed: BoundedMap<string, Installation>;
  /** What users see, by the keys of their queries. */
  readonly bound: BoundedMap<string, Bound>;
}

/** The installation as it was at most a second ago, with the views that fit it. */
export class CurrentInstallation<Context extends UserContext> {
  readonly #views: ClientViews<Context>;
  readonly #readings: Readings<Findings>;
  readonly #keys = new QueryKeys();

  constructor(db: Database, views: ClientViews<Context>) {
    this.#views = views;
    this.#readings = new Readings(db, () => ({
      narrowed: new BoundedMap(keptLists),
      bound: new BoundedMap(keptUsers),
    }));
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
        this.#readings.forget(reading);
      }
    }
  }

  async #bind(input: ClientViewInput<Context>, part?: ViewPart): Promise<{ bound: Bound; reading: Reading<Findings> }> {
    const { userID } = input.ctx;
    const queries = this.#views.queries(input, { own: input.refused ? refusedViews : undefined, part });
    const key = this.#keys.keyOf(userID, queries);
    for (;;) {
      const reading = this.#readings.current();
      const known = await reading.known;
      const found = key === undefined ? undefined : known.findings.bound.get(key);
      if (found) return { bound: found, reading };
      const views = await this.#views.bindQueries(queries, known.installation.shape);
      const narrowed = this.#narrow(known, views);
      if (!narrowed) continue;
      const bound = { installation: narrowed, views, ...digestsOf(userID, narrowed, views) };
      if (key !== undefined) known.findings.bound.set(key, bound);
      return { bound, reading };
    }
  }

  /** Returns undefined if the reading does not know all tables of the views; the next one will. */
  #narrow(
    { installation, findings: { narrowed } }: Known<Findings>,
    views: readonly BoundView[],
  ): Installation | undefined {
    const tables = views.flatMap((view) => view.tables);
    const oids = tables.map(({ oid }) => oid).join();
    const found = narrowed.get(oids);
    if (found) return found;
    const unknown = tables.filter((table) => !knows(installation, table.oid));
    if (unknown.length > 0) {
      this.#readings.follow(unknown);
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
    return (await this.#readings.current().known).installation;
  }

  /**
   * Nothing has been committed between two times of the clock: what was read since the first is as good as if it had been
   * read at the second.
   */
  remained(since: number, until: number): void {
    this.#readings.remained(since, until);
  }
}

/** The shapes of what a view reads of a table: of all of it, if it reads rows as a whole. */
function readShapes({ oid, shape, ownShape, columnShapes, primaryKey }: SyncedTable, reads: ReadColumns): string[] {
  const columns = reads.get(oid);
  if (!columns || columns.some((column) => columnShapes[column] === undefined)) return [shape];
  const read = new Set([...columns, ...primaryKey.map(({ attnum }) => attnum)]);
  return [ownShape, ...[...read].sort((a, b) => a - b).map((column) => `${column} ${columnShapes[column]}`)];
}

function digestsOf(
  userID: string,
  { shape, tables }: Installation,
  views: readonly BoundView[],
): Pick<Bound, 'viewsDigest' | 'viewDigests' | 'tableShapes' | 'formDigest'> {
  const synced = new Map(tables.map((table) => [table.oid, table]));
  const part = (texts: readonly string[]) => digest(texts).slice(0, partLength);
  const parts = views.map(({ view, literals, tables: read }) =>
    part([view.digest, JSON.stringify(read.map(({ oid }) => readShapes(synced.get(oid)!, view.reads))), ...literals]),
  );
  return {
    viewsDigest: digest([shape, userID, ...views.flatMap(({ view, literals }) => [view.digest, ...literals])]),
    viewDigests: [part([userID]), ...parts].join('.'),
    tableShapes: tables.map((table) => table.shape.slice(0, partLength)).join('.'),
    formDigest: digest([shape, ...views.map(({ view }) => view.digest)]),
  };
}
