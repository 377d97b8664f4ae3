/** Determines the cost of a change of each table of a view, and whether the indexes that keep it cheap exist. */
import { beginsWith, readSizes, sizesOf, type TableSize } from '../catalog/table-sizes.js';
import { type Table, tableLabel } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import type { Analysis } from '../view/analyze.js';
import { type ChangeCost, costsOf, type RequiredIndex } from '../view/change-costs.js';

/** An index that begins with these columns, in any order. */
export interface IndexStatus {
  readonly table: string;
  readonly columns: readonly string[];
  readonly exists: boolean;
}

export interface ChangeStatus {
  readonly table: string;
  /** The amount that a pull reads after a change of the table. */
  readonly cost: ChangeCost;
  /** The indexes with which Postgres finds those rows, besides primary keys. */
  readonly indexes: readonly IndexStatus[];
}

export async function readChanges(db: Database, analysis: Analysis): Promise<ChangeStatus[]> {
  const sizes = await readSizes(db, analysis.tables);
  return costsOf(analysis).map(({ table, cost, indexes }) => ({
    table: tableLabel(table),
    cost,
    indexes: indexes
      .filter((index) => !beginsWith(keyOf(index.table), index.columns, index.constant))
      .map((index) => ({
        table: tableLabel(index.table),
        columns: index.columns,
        exists: isIndexed(index, sizes),
      })),
  }));
}

function keyOf({ primaryKey }: Table): string[] {
  return primaryKey.map(({ name }) => name);
}

/** True if all partitions of a table have such an index. */
function isIndexed({ table, columns, constant }: RequiredIndex, sizes: readonly TableSize[]): boolean {
  const partSizes = sizesOf(table, sizes);
  const isServed = partSizes.every(({ indexes }) => indexes.some((index) => beginsWith(index, columns, constant)));
  return isServed && partSizes.length === table.parts.length;
}
