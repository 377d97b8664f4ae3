import { BoundedMap } from '../bounded-map.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import type { CookieFields } from '../protocol/cookie.js';
import type { Want } from '../protocol/wants.js';
import type { SyncedTable } from '../store/patches/states.js';
import { refusedViews } from '../store/refusals.js';
import type { SchemaChanges } from '../store/row-formats/schema-change.js';
import type { ClientViews, ResolvedView, ViewPart } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { type PreparedView, parametersIn } from '../view/served-view.js';
import { SchemaChangeFinder } from './row-formats/schema-change-finder.js';
import { type SchemaEntry, SchemaReader, type SchemaReading } from './schema-reader.js';
import { includesTable, narrow, type SchemaState } from './schema-state.js';
import {
  type CookieView,
  diffViewSet,
  matchViews,
  type ReadableView,
  unlessRefused,
  type ViewSetDifference,
} from './views/cookie-views.js';
import { type Digests, digestsOf } from './views/digests.js';
import { QueryKeys } from './views/query-keys.js';
import { catalogViewsOf, ViewCatalog } from './views/view-catalog.js';

/** The number of table lists for which a narrowed schema state is cached. */
const maxTableLists = 1000;

/** The number of users whose resolved views are cached. */
const maxUsers = 10_000;

/** The input of the views, and the options of the client view. */
export interface ClientViewInput<Context> extends ViewInput<Context> {
  /** True to include the refused mutations of the user and profile. Default false. */
  readonly refused?: boolean | undefined;
  /** The wanted instances of views with arguments: the same object for the same wants. Default: none. */
  readonly wants?: readonly Want[] | undefined;
  /** If given, other views are left out. */
  readonly names?: ReadonlySet<string> | undefined;
}

/** The views of one user, and the schema state of their tables. */
export interface ResolvedViews extends Digests {
  readonly schema: SchemaState;
  readonly views: readonly ResolvedView[];
}

/** Values derived from one schema state. */
export interface Derived {
  /** The schema state narrowed to some tables, by their OIDs. */
  readonly narrowed: BoundedMap<string, SchemaState>;
  /** The resolved views of users, by the keys of their queries. */
  readonly resolved: BoundedMap<string, ResolvedViews>;
  /** The views of cookies, which may no longer be served, by digest; null if a view can no longer be prepared. */
  readonly preparedViews: BoundedMap<string, Promise<(PreparedView & Pick<ReadableView, 'keysDigest'>) | null>>;
  /** The schema changes of tables. */
  readonly schemaChanges: SchemaChangeFinder;
}

/** Caches the schema state for a second, with the views that fit it. */
export class SchemaCache<Context extends UserContext> {
  readonly #views: ClientViews<Context>;
  readonly #reader: SchemaReader<Derived>;
  readonly #keys = new QueryKeys();
  readonly #catalog: ViewCatalog;

  constructor(db: Database, views: ClientViews<Context>) {
    this.#views = views;
    this.#catalog = new ViewCatalog(db);
    this.#reader = new SchemaReader(db, () => ({
      narrowed: new BoundedMap(maxTableLists),
      resolved: new BoundedMap(maxUsers),
      preparedViews: new BoundedMap(maxTableLists),
      schemaChanges: new SchemaChangeFinder(db),
    }));
  }

  /**
   * Returns the views of one user, and the schema state of their tables. The result must not depend on the queries of
   * other users, because other servers have not seen those.
   * @param part if given, only this part of the views
   * @throws SetupError if a view cannot be served, or changes to its tables are not captured.
   */
  async resolve(input: ClientViewInput<Context>, part?: ViewPart): Promise<ResolvedViews> {
    return (await this.resolveWith(input, part)).resolved;
  }

  /** Returns the result of `resolve`, and the read of the schema state that it is based on, for `forget`. */
  async resolveWith(
    input: ClientViewInput<Context>,
    part?: ViewPart,
  ): Promise<{ resolved: ResolvedViews; reading: SchemaReading<Derived> }> {
    const { userID } = input.ctx;
    const { wants, names } = input;
    const ownViews = input.refused ? refusedViews : undefined;
    const queries = this.#views.queries(input, { ownViews, part, wants, names });
    const key = this.#keys.keyOf(userID, queries);
    for (;;) {
      const reading = this.#reader.current();
      const entry = await reading.entry;
      const found = key === undefined ? undefined : entry.derived.resolved.get(key);
      if (found) return { resolved: found, reading };
      const views = await this.#views.resolveQueries(queries, entry.schema.schemaHash);
      const narrowed = this.#narrow(entry, views);
      if (!narrowed) continue;
      const resolved = { schema: narrowed, views, ...digestsOf(userID, narrowed, views) };
      if (part?.key === undefined) await this.#catalog.add(catalogViewsOf(views, queries, narrowed));
      if (key !== undefined) entry.derived.resolved.set(key, resolved);
      return { resolved, reading };
    }
  }

  /** Reads the schema state again at the next use, unless there is a newer read already. */
  forget(reading: SchemaReading<Derived>): void {
    this.#reader.forget(reading);
  }

  /**
   * Returns how a user's views differ from a cookie's; undefined if no view is the same, or if the server cannot
   * determine what the client has; `outdated` if the resolved views no longer fit the schema state.
   * @param isStandby true if the database is a standby
   */
  async diffSince(
    cookie: Pick<CookieFields, 'views' | 'parameters' | 'consistencyCheck'>,
    resolved: ResolvedViews,
    userID: string,
    isStandby: boolean,
  ): Promise<ViewSetDifference | 'outdated' | undefined> {
    const { schema, views } = resolved;
    const match = matchViews(cookie, resolved, userID, schema.secrets);
    if (!match) return undefined;
    for (;;) {
      const entry = await this.#reader.current().entry;
      const removed = await Promise.all(match.removed.map((cookieView) => this.#readCookieView(entry, cookieView)));
      const readable = removed.filter((view) => view !== undefined);
      if (readable.length < removed.length) return undefined;
      const wideSchema = await unlessRefused(() => this.#narrow(entry, [...views, ...readable]));
      if (wideSchema === undefined) continue;
      if (wideSchema === null) return undefined;
      if (this.#narrow(entry, views)?.schemaHash !== schema.schemaHash) return 'outdated';
      return diffViewSet(match, views, readable, wideSchema, isStandby);
    }
  }

  /**
   * Returns how the schema of tables has changed since a cookie was issued.
   * @param schemaHashes the schema hashes in the cookie
   */
  async schemaChangesSince(tables: readonly SyncedTable[], schemaHashes: string): Promise<SchemaChanges> {
    const { derived } = await this.#reader.current().entry;
    return derived.schemaChanges.since(tables, schemaHashes);
  }

  /** Reads the schema state again. Returns true if one of the tables now has another schema hash. */
  async haveChanged(tables: readonly SyncedTable[]): Promise<boolean> {
    this.#reader.forget(this.#reader.current());
    const now = new Map((await this.present()).tables.map(({ oid, schemaHash }) => [oid, schemaHash]));
    return tables.some(({ oid, schemaHash }) => now.get(oid) !== schemaHash);
  }

  /** Returns a cookie's view, prepared against the current tables; undefined if that is not possible. */
  async #readCookieView(
    { derived: { preparedViews } }: SchemaEntry<Derived>,
    { digest, texts }: CookieView,
  ): Promise<ReadableView | undefined> {
    let preparing = preparedViews.get(digest);
    if (!preparing) {
      const catalogView = await this.#catalog.find(digest);
      if (!catalogView) return undefined;
      const { keysDigest, ...served } = catalogView;
      preparing = unlessRefused(async () => ({ ...(await this.#views.prepareServed(served)), keysDigest }));
      preparedViews.set(digest, preparing);
      preparing.catch(() => preparedViews.delete(digest));
    }
    const found = await preparing;
    if (!found) return undefined;
    const { view, analysis, keysDigest } = found;
    return { view, tables: analysis.tables, keysDigest, priority: 0, ...parametersIn(found, texts) };
  }

  /** Returns undefined if the schema state lacks a table of the views; the next read will include it. */
  #narrow(
    { schema, derived: { narrowed } }: SchemaEntry<Derived>,
    views: readonly ResolvedView[],
  ): SchemaState | undefined {
    const tables = views.flatMap((view) => view.tables);
    const oids = tables.map(({ oid }) => oid).join();
    const found = narrowed.get(oids);
    if (found) return found;
    const unknown = tables.filter((table) => !includesTable(schema, table.oid));
    if (unknown.length > 0) {
      this.#reader.track(unknown);
      return undefined;
    }
    const narrowSchema = narrow(schema, tables);
    narrowed.set(oids, narrowSchema);
    return narrowSchema;
  }

  /**
   * Returns the schema state with all tables that any view has read. While its schema hash stays the same, so do the
   * results of `resolve`. After another read, it is another object.
   */
  async present(): Promise<SchemaState> {
    return (await this.#reader.current().entry).schema;
  }

  /**
   * Declares that nothing was committed between two times of `performance.now`. What was read since the first then
   * counts as read at the second.
   */
  remained(since: number, until: number): void {
    this.#reader.remained(since, until);
  }
}
