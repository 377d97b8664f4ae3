/** What has become of tables since cookies were given, as it is found out for an installation. */
import { BoundedMap } from '../../bounded-map.js';
import type { Database } from '../../db/database.js';
import { type Alteration, type Altered, alterationOf, gonePartitions } from '../../store/layouts/alteration.js';
import { findEmptied } from '../../store/layouts/emptied.js';
import { areFewRows, findLayouts } from '../../store/layouts/layouts-table.js';
import type { SyncedTable } from '../../store/patches/states.js';
import { shapeInCookies } from '../digests.js';

/** For how many shapes of tables it is remembered. */
const keptShapes = 1000;

/** Finds what has become of tables. For another installation, there is another one of these. */
export class Alterations {
  readonly #db: Database;
  readonly #known = new BoundedMap<string, Promise<Alteration | undefined>>(keptShapes);

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * What has become of tables since a cookie was given.
   * @param tables those that have been altered
   * @param shapes those of the cookie
   */
  async since(tables: readonly SyncedTable[], shapes: string): Promise<Altered> {
    const before = new Map(shapes.split('.').map((shape) => shape.split(':') as [id: string, shape: string]));
    const found = tables.map(async (table) => {
      const shape = before.get(String(table.id));
      const alteration = shape === undefined ? undefined : await this.#of(table, shape);
      return [table.id, alteration ?? (table.kind === 'p' ? 'lost' : 'unknown')] as const;
    });
    return new Map(await Promise.all(found));
  }

  /**
   * What has become of a table since it had a shape; undefined if rows that were logged in the meantime cannot be read.
   * @param shape as cookies have it
   */
  #of(table: SyncedTable, shape: string): Promise<Alteration | undefined> {
    const key = JSON.stringify([table.id, shape, table.shape]);
    const known = this.#known.get(key);
    if (known) return known;
    const found = this.#find(table, shape);
    this.#known.set(key, found);
    // What nobody has recorded yet, or what has not come to a standby, may be there a moment later.
    const forget = () => void this.#known.delete(key);
    found.then((alteration) => alteration ?? forget(), forget);
    return found;
  }

  async #find(table: SyncedTable, shape: string): Promise<Alteration | undefined> {
    const layouts = await findLayouts(this.#db, table.id);
    const first = layouts.findLastIndex((layout) => layout.shape === shape);
    const last = layouts.findLastIndex((layout) => layout.shape === shapeInCookies(table));
    if (first < 0 || last <= first) return undefined;
    const since = layouts.slice(first, last + 1);
    const alteration = alterationOf(since, await findEmptied(this.#db, table.id, gonePartitions(since)));
    if (!alteration || alteration.attached.length === 0) return alteration;
    return (await areFewRows(this.#db, alteration.attached)) ? alteration : undefined;
  }
}
