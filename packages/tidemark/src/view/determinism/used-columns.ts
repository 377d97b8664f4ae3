/** Finds the columns of a FROM item on which a query depends. */
import { type Field, isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';

/** A join in RTEKind (parsenodes.h). Its columns are those of the items that it joins. */
const JOIN = 2;

/**
 * Returns the names of an item's columns that the query refers to; undefined if the names are ambiguous. Rows that
 * differ only in other columns are the same to the query.
 */
export function usedColumns(query: QueryNode, itemName: string): readonly string[] | undefined {
  const entries = nodeList(query, 'rtable');
  const entryNumbers = entries.flatMap((entry, i) => (namesOf(entry).name === itemName ? [i + 1] : []));
  const entryNumber = entryNumbers[0];
  if (entryNumber === undefined || entryNumbers.length > 1 || isJoin(entries[entryNumber - 1]!)) return undefined;
  const variables = [...variablesOf(query, 0)];
  if (variables.some((variable) => isJoin(entries[numberOf(variable, 'varno')! - 1]!))) return undefined;
  const columns = variables
    .filter((variable) => numberOf(variable, 'varno') === entryNumber)
    .map((variable) => numberOf(variable, 'varattno')!);
  const names = namesOf(entries[entryNumber - 1]!).columns;
  const used = [...new Set(columns)].sort((a, b) => a - b).map((column) => names[column - 1]);
  const areNamed = used.every((name) => names.filter((other) => other === name).length === 1);
  return areNamed ? (used as string[]) : undefined;
}

function isJoin(entry: QueryNode): boolean {
  return numberOf(entry, 'rtekind') === JOIN;
}

/** Yields the variables of a query and its subqueries, except those that a join has for each of its columns. */
function* variablesOf(field: Field | undefined, depth: number): Generator<QueryNode> {
  if (Array.isArray(field)) for (const child of field) yield* variablesOf(child, depthOf(child, depth));
  if (!isNode(field)) return;
  if (field.tag === 'VAR' && numberOf(field, 'varlevelsup') === depth) yield field;
  for (const [name, child] of Object.entries(field.fields)) {
    if (name !== 'joinaliasvars') yield* variablesOf(child, depthOf(child, depth));
  }
}

function depthOf(child: Field, depth: number): number {
  return isNode(child) && child.tag === 'QUERY' ? depth + 1 : depth;
}
