/** Groups by every column that a query takes from the primary key it groups by: where another state of a table is read, no key is known. */
import type { Meaning } from '../analysis/meaning.js';
import { columnRef } from '../parse/nodes.js';
import { type Level, type Reference, scopesOf, sourceOf } from '../parse/scopes.js';
import { names, type Tree, visits } from '../parse/tree.js';
import type { TableOf } from './qualify.js';

export function groupByColumns(select: Tree, meaning: Meaning, tableOf: TableOf): void {
  const { levels, references } = scopesOf(select);
  for (const level of levels) {
    if (!meaning.queryOf(level.select)?.fields.constraintDeps) continue;
    const grouped = level.select.groupClause as Tree[];
    const known = new Set(grouped.map((item) => nameOf(item)));
    for (const column of references.flatMap((reference) => columnsOf(reference, level, meaning, tableOf))) {
      if (known.has(nameOf(column))) continue;
      known.add(nameOf(column));
      grouped.push(column);
    }
  }
}

function nameOf(item: Tree): string {
  return JSON.stringify(names((item.ColumnRef as Tree | undefined)?.fields));
}

/** The columns of a level that a reference takes outside of aggregates. */
function columnsOf(reference: Reference, level: Level, meaning: Meaning, tableOf: TableOf): Tree[] {
  const { node, names: parts, scope } = reference;
  const source = parts.length > 1 ? sourceOf(reference, (range) => tableOf(range).schema) : undefined;
  const isHere = source ? level.sources.includes(source) : scope.sources.some((one) => level.sources.includes(one));
  if (!isHere || isElsewhere(node, level, meaning)) return [];
  if (parts.at(-1) !== '*') return [columnRef(...parts)];
  const tables = level.sources.filter((one) => one.table && (!source || one === source));
  return tables.flatMap(({ name, table }) => tableOf(table!).columns.map((column) => columnRef(name!, column)));
}

/** Within an aggregate, in the clauses that come before grouping, or a name of the result. */
function isElsewhere(node: Tree, { select }: Level, meaning: Meaning): boolean {
  const { targetList, havingClause, sortClause, windowClause } = select;
  const after = [...visits([targetList, havingClause, windowClause])];
  const sorted = [...visits(sortClause)];
  const outputs = new Set(((targetList ?? []) as { ResTarget: Tree }[]).map(({ ResTarget }) => ResTarget.name));
  const isOutput = names(node.fields).length === 1 && outputs.has(names(node.fields)[0]);
  if (!after.some((visit) => visit.node === node) && (isOutput || !sorted.some((visit) => visit.node === node))) {
    return true;
  }
  const aggregates = [...after, ...sorted].filter(
    ({ type, node: one }) => type === 'FuncCall' && meaning.nodesOf(one).some(({ tag }) => tag === 'AGGREF'),
  );
  return aggregates.some(({ node: one }) => [...visits(one)].some((visit) => visit.node === node));
}
