/** Which columns of what it reads a query depends on. */
import { type Field, isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';

/** A join in RTEKind (parsenodes.h): its columns are those of what it joins. */
const JOIN = 2;

/**
 * The names of a source's columns that anything in the query refers to; undefined if names cannot tell. Rows that
 * differ only in other columns are the same to the query.
 */
export function usedColumns(query: QueryNode, source: string): readonly string[] | undefined {
  const entries = nodeList(query, 'rtable');
  const places = entries.flatMap((entry, i) => (namesOf(entry).name === source ? [i + 1] : []));
  const place = places[0];
  if (place === undefined || places.length > 1 || isJoin(entries[place - 1]!)) return undefined;
  const variables = [...variablesOf(query, 0)];
  if (variables.some((variable) => isJoin(entries[numberOf(variable, 'varno')! - 1]!))) return undefined;
  const columns = variables
    .filter((variable) => numberOf(variable, 'varno') === place)
    .map((variable) => numberOf(variable, 'varattno')!);
  const names = namesOf(entries[place - 1]!).columns;
  const used = [...new Set(columns)].sort((a, b) => a - b).map((column) => names[column - 1]);
  const areNamed = used.every((name) => names.filter((other) => other === name).length === 1);
  return areNamed ? (used as string[]) : undefined;
}

function isJoin(entry: QueryNode): boolean {
  return numberOf(entry, 'rtekind') === JOIN;
}

/**
 * The variables of a query, including those in its subqueries, except those that a join has for each of its columns.
 */
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
