import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { Problem } from '../errors.js';
import type { CookieFields } from '../protocol/cookie.js';
import type { Header } from '../store/header.js';
import type { Altered } from '../store/layouts/alteration.js';
import type { SyncedTable } from '../store/patches/states.js';
import { refusedViews } from '../store/refusals.js';
import { type BoundView, type ClientViews, servedView, type ViewPart, type ViewQuery } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { type PreparedView, parametersIn } from '../view/served-view.js';
import { type Digests, digestsOf, keysDigest, viewDigest } from './digests.js';
import {
  type ChangedViews,
  changedViews,
  type HeldView,
  matchViews,
  type ReadView,
  unlessRefused,
} from './held-views.js';
import { type Installation, knows, narrow } from './installation.js';
import { type KeptView, KeptViews } from './kept-views.js';
import { Alterations } from './layouts/alterations.js';
import { QueryKeys } from './query-keys.js';
import { type Known, type Reading, Readings } from './readings.js';

/** For how many lists of tables the installation is remembered. */
const keptLists = 1000;

/** How many users' views are remembered. */
const keptUsers = 10_000;

/**
 * How long each attempt at an answer, but the first, waits. A migration alters one table after the other, each in a
 * transaction of its own.
 */
const pausesMs = [0, 20, 100, 400];

/** The input of the views, and what else the client view is to have. */
export interface ClientViewInput<Context> extends ViewInput<Context> {
  /** Whether it includes the refused mutations of the user and profile. Default false. */
  readonly refused?: boolean | undefined;
}

/** The views of one user, and the installation as far as it concerns them. */
export interface Bound extends Digests {
  readonly installation: Installation;
  readonly views: readonly BoundView[];
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
  /** Views that may be served no longer, by their digests; null where they could not be served now. */
  readonly prepared: BoundedMap<string, Promise<(PreparedView & Pick<ReadView, 'keysDigest'>) | null>>;
  /** What has become of tables. */
  readonly alterations: Alterations;
}

/** The installation as it was at most a second ago, with the views that fit it. */
export class CurrentInstallation<Context extends UserContext> {
  readonly #views: ClientViews<Context>;
  readonly #readings: Readings<Findings>;
  readonly #keys = new QueryKeys();
  readonly #kept: KeptViews;

  constructor(db: Database, views: ClientViews<Context>) {
    this.#views = views;
    this.#kept = new KeptViews(db);
    this.#readings = new Readings(db, () => ({
      narrowed: new BoundedMap(keptLists),
      bound: new BoundedMap(keptUsers),
      prepared: new BoundedMap(keptLists),
      alterations: new Alterations(db),
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
    const pauses = pausesMs.values();
    for (;;) {
      const { bound, reading } = await this.#bind(input, part);
      try {
        return await work(bound, last);
      } catch (error) {
        const { value: pauseMs } = pauses.next();
        if (!(error instanceof OutdatedError) || pauseMs === undefined) throw error;
        last = error;
        await sleep(pauseMs);
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
      if (part?.key === undefined) await this.#kept.keep(keptViewsOf(views, queries, narrowed));
      if (key !== undefined) known.findings.bound.set(key, bound);
      return { bound, reading };
    }
  }

  /**
   * What has changed in a user's views since a cookie; undefined if nothing is the same, or if it cannot be told what the
   * client has.
   */
  async changedSince(
    cookie: Pick<CookieFields, 'views' | 'parameters'>,
    bound: Bound,
    userID: string,
  ): Promise<ChangedViews | undefined> {
    const { installation, views } = bound;
    const matched = matchViews(cookie, bound, userID, installation.secrets);
    if (!matched) return undefined;
    for (;;) {
      const known = await this.#readings.current().known;
      const gone = await Promise.all(matched.gone.map((held) => this.#held(known, held)));
      const held = gone.filter((view) => view !== undefined);
      if (held.length < gone.length) return undefined;
      const wide = await unlessRefused(() => this.#narrow(known, [...views, ...held]));
      if (wide === undefined) continue;
      if (wide === null) return undefined;
      if (this.#narrow(known, views)?.shape !== installation.shape) throw new OutdatedError();
      return changedViews(matched, views, held, wide);
    }
  }

  /**
   * What has become of tables that have been altered since a cookie was given.
   * @param shapes those of the cookie
   */
  async alteredSince(tables: readonly SyncedTable[], shapes: string): Promise<Altered> {
    const { findings } = await this.#readings.current().known;
    return findings.alterations.since(tables, shapes);
  }

  /** Whether tables are other ones by now than a reading has said. */
  async haveChanged(tables: readonly SyncedTable[]): Promise<boolean> {
    this.#readings.forget(this.#readings.current());
    const now = new Map((await this.present()).tables.map(({ oid, shape }) => [oid, shape]));
    return tables.some(({ oid, shape }) => now.get(oid) !== shape);
  }

  /** A view that a client holds, as it reads the tables of now; undefined if it cannot. */
  async #held({ findings: { prepared } }: Known<Findings>, { digest, texts }: HeldView): Promise<ReadView | undefined> {
    let preparing = prepared.get(digest);
    if (!preparing) {
      const kept = await this.#kept.find(digest);
      if (!kept) return undefined;
      const { keysDigest, ...served } = kept;
      preparing = unlessRefused(async () => ({ ...(await this.#views.prepareServed(served)), keysDigest }));
      prepared.set(digest, preparing);
      preparing.catch(() => prepared.delete(digest));
    }
    const found = await preparing;
    if (!found) return undefined;
    const { view, analysis, keysDigest } = found;
    return { view, tables: analysis.tables, keysDigest, ...parametersIn(found, texts) };
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

function keptViewsOf(
  views: readonly BoundView[],
  queries: readonly ViewQuery[],
  { tables }: Installation,
): Map<string, KeptView> {
  const kept = (view: BoundView, i: number) => ({ ...servedView(queries[i]!), keysDigest: keysDigest(view, tables) });
  return new Map(views.map((view, i) => [viewDigest(view, tables), kept(view, i)]));
}
