/** Finds large tables for which any change makes pulls evaluate a whole view. */
import { readSizes, rowsIn } from '../catalog/table-sizes.js';
import { tableLabel } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { tablesOfWholeView } from '../view/change-costs.js';
import type { ResolvedView } from '../view/client-views.js';

export interface CostlyChange {
  readonly view: string;
  readonly table: string;
  /** The approximate number of rows in the table. */
  readonly rows: number;
}

const minRows = 10_000;

export async function findCostlyChanges(db: Database, views: readonly ResolvedView[]): Promise<CostlyChange[]> {
  const changes = views.flatMap(({ view, tables }) => {
    const wholeViewTables = tablesOfWholeView(view);
    return [...new Set(tables)]
      .filter(({ oid }) => wholeViewTables.has(oid))
      .map((table) => ({ view: view.name, table }));
  });
  if (changes.length === 0) return [];
  const sizes = await readSizes(
    db,
    changes.map(({ table }) => table),
  );
  return changes
    .map(({ view, table }) => ({ view, table: tableLabel(table), rows: rowsIn(table, sizes) }))
    .filter(({ rows }) => rows >= minRows);
}
