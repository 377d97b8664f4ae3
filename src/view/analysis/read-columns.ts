/** Which columns of each table a query reads, as Postgres checks the right to read them. */
import { isNode, numberOf, type QueryNode, queryNodes } from './query-tree.js';

/** By the table's OID: the `attnum` of each column. 0 stands for the whole row. */
export type ReadColumns = ReadonlyMap<number, readonly number[]>;

/** What Postgres adds to an `attnum` in such a set, so that no member is negative (`FirstLowInvalidHeapAttributeNumber`). */
const offset = 7;

/** The columns that a query reads at any depth. Until Postgres 15, what is checked is noted with the table itself. */
export function readColumns(query: QueryNode): ReadColumns {
  const read = new Map<number, Set<number>>();
  for (const node of queryNodes(query)) {
    const relation = numberOf(node, 'relid');
    const { selectedCols } = node.fields;
    if (relation === undefined || relation === 0 || !Array.isArray(selectedCols)) continue;
    const columns = read.get(relation) ?? new Set();
    read.set(relation, columns);
    // The set is written as (b 8 9).
    for (const member of selectedCols.slice(1)) {
      if (isNode(member) || Array.isArray(member)) throw new Error('The columns that a query reads are not numbers');
      columns.add(Number(member) - offset);
    }
  }
  return new Map([...read].map(([relation, columns]) => [relation, [...columns].sort((a, b) => a - b)]));
}
