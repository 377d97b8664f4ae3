/** Finds the large tables of which any change costs whoever pulls the whole of a view. */
import { readSizes, rowsIn } from '../catalog/table-sizes.js';
import type { Database } from '../db/database.js';
import { tablesOfWholeView } from '../view/change-costs.js';
import type { BoundView } from '../view/client-views.js';

export interface CostlyChange {
  readonly view: string;
  readonly table: string;
  /** About how many rows the table has. */
  readonly rows: number;
}

const manyRows = 10_000;

export async function findCostlyChanges(db: Database, views: readonly BoundView[]): Promise<CostlyChange[]> {
  const found = views.flatMap(({ view, tables }) => {
    const whole = tablesOfWholeView(view);
    return [...new Set(tables)].filter(({ oid }) => whole.has(oid)).map((table) => ({ view: view.name, table }));
  });
  if (found.length === 0) return [];
  const sizes = await readSizes(
    db,
    found.map(({ table }) => table),
  );
  return found
    .map(({ view, table }) => ({ view, table: `${table.schema}.${table.name}`, rows: rowsIn(table, sizes) }))
    .filter(({ rows }) => rows >= manyRows);
}
