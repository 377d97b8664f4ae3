/** Finds the columns of each table that a query reads. They are those for which Postgres checks the right to read. */
import { isNode, numberOf, type QueryNode, queryNodes } from './query-tree.js';

/** The `attnum` of each column, by the table's OID. 0 stands for the whole row. */
export type ReadColumns = ReadonlyMap<number, readonly number[]>;

/** Postgres adds this to each `attnum` of the set, so that none is negative (`FirstLowInvalidHeapAttributeNumber`). */
const offset = 7;

/** Returns the columns that a query reads at any depth. Up to Postgres 15, the table's entry itself lists them. */
export function readColumns(query: QueryNode): ReadColumns {
  const read = new Map<number, Set<number>>();
  for (const node of queryNodes(query)) {
    const relation = numberOf(node, 'relid');
    const { selectedCols } = node.fields;
    if (relation === undefined || relation === 0 || !Array.isArray(selectedCols)) continue;
    const columns = read.get(relation) ?? new Set();
    read.set(relation, columns);
    // Postgres writes the set as (b 8 9).
    for (const member of selectedCols.slice(1)) {
      if (isNode(member) || Array.isArray(member)) throw new Error('The columns that a query reads are not numbers');
      columns.add(Number(member) - offset);
    }
  }
  return new Map([...read].map(([relation, columns]) => [relation, [...columns].sort((a, b) => a - b)]));
}
