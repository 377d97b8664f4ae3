/** The views that servers have served, as the database keeps them by their digests. */
import { BoundedMap } from '../bounded-map.js';
import { type Database, readCommitted } from '../db/database.js';
import type { ServedView } from '../view/served-view.js';

/** How many views a server remembers to have kept; the database keeps as many. */
const keptViews = 1000;

/** A view, as it was served when it had its digest. */
export interface KeptView extends ServedView {
  /** See `keysDigest`. */
  readonly keysDigest: string;
}

/** Keeps the views that one server serves, and finds those of all. */
export class KeptViews {
  readonly #db: Database;
  readonly #kept = new BoundedMap<string, Promise<void>>(keptViews);

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Keeps views, unless this has been done: a client must not get a cookie that names one before. Not on a standby.
   * @param views by their digests
   */
  async keep(views: ReadonlyMap<string, KeptView>): Promise<void> {
    const unkept = [...views].filter(([digest]) => !this.#kept.get(digest));
    if (unkept.length > 0) {
      const kept = this.#write(unkept);
      for (const [digest] of unkept) {
        this.#kept.set(digest, kept);
        kept.catch(() => this.#kept.delete(digest));
      }
    }
    await Promise.all([...views.keys()].map((digest) => this.#kept.get(digest)));
  }

  /** The view with a digest; undefined if it is not kept any more. */
  async find(digest: string): Promise<KeptView | undefined> {
    const [row] = await this.#db.query<{ definition: string }>({
      text: 'select definition from tidemark.view_text where digest = $1',
      values: [digest],
    });
    return row && (JSON.parse(row.definition) as KeptView);
  }

  /** READ COMMITTED, since another server may be doing the same. */
  async #write(views: readonly (readonly [digest: string, view: KeptView])[]): Promise<void> {
    const definitions = views.map(([, view]) => JSON.stringify(view));
    await this.#db.transact(async (client) => {
      await client.query(readCommitted);
      await client.query('select tidemark.keep_views($1, $2)', [views.map(([digest]) => digest), definitions]);
    });
  }
}
