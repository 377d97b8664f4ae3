/** The view catalog: the views that servers have served, stored in the database by digest. */
import { BoundedMap } from '../../bounded-map.js';
import { type Database, readCommitted } from '../../db/database.js';
import { type ResolvedView, servedView, type ViewQuery } from '../../view/client-views.js';
import type { ServedView } from '../../view/served-view.js';
import type { SchemaState } from '../schema-state.js';
import { keysDigest, viewDigest } from './digests.js';

/** The number of stored views that a server remembers. The database stores the same number. */
const maxViews = 1000;

/** A view as it was served with its digest. */
export interface CatalogView extends ServedView {
  /** See `keysDigest` in `digests.ts`. */
  readonly keysDigest: string;
}

/** Returns views as the catalog stores them, by digest. */
export function catalogViewsOf(
  views: readonly ResolvedView[],
  queries: readonly ViewQuery[],
  { tables }: SchemaState,
): Map<string, CatalogView> {
  const catalogView = (view: ResolvedView, i: number) => ({
    ...servedView(queries[i]!),
    keysDigest: keysDigest(view, tables),
  });
  return new Map(views.map((view, i) => [viewDigest(view, tables), catalogView(view, i)]));
}

/** Stores the views that one server serves, and finds those of all servers. */
export class ViewCatalog {
  readonly #db: Database;
  readonly #writes = new BoundedMap<string, Promise<void>>(maxViews);

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Stores views that are not stored yet. Must finish before a client gets a cookie with them. No-op on a standby.
   * @param views by digest
   */
  async add(views: ReadonlyMap<string, CatalogView>): Promise<void> {
    const missing = [...views].filter(([digest]) => !this.#writes.get(digest));
    if (missing.length > 0) {
      const writing = this.#write(missing);
      for (const [digest] of missing) {
        this.#writes.set(digest, writing);
        writing.catch(() => this.#writes.delete(digest));
      }
    }
    await Promise.all([...views.keys()].map((digest) => this.#writes.get(digest)));
  }

  /** Returns the view with a digest; undefined if the catalog no longer has it. */
  async find(digest: string): Promise<CatalogView | undefined> {
    const [row] = await this.#db.query<{ definition: string }>({
      text: 'select definition from tidemark.view_catalog where digest = $1',
      values: [digest],
    });
    return row && (JSON.parse(row.definition) as CatalogView);
  }

  /** Uses READ COMMITTED, because another server may store the same views concurrently. */
  async #write(views: readonly (readonly [digest: string, view: CatalogView])[]): Promise<void> {
    const definitions = views.map(([, view]) => JSON.stringify(view));
    await this.#db.transact(async (client) => {
      await client.query(readCommitted);
      await client.query('select tidemark.store_views($1, $2)', [views.map(([digest]) => digest), definitions]);
    });
  }
}
