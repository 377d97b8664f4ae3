/** Groups by every column that a query takes from the primary key it groups by: where another state of a table is read, no key is known. */
import { isAggregate, type Meaning } from '../analysis/meaning.js';
import { columnRef } from '../parse/nodes.js';
import { type Level, type Reference, scopesOf, sourceOf } from '../parse/scopes.js';
import { names, type Tree, type Visit, visits } from '../parse/tree.js';
import type { TableOf } from './qualify.js';

export function groupByColumns(select: Tree, meaning: Meaning, tableOf: TableOf): void {
  const { levels, references } = scopesOf(select);
  for (const level of levels) {
    if (!meaning.queryOf(level.select)?.fields.constraintDeps) continue;
    const grouped = level.select.groupClause as Tree[];
    const known = new Set(grouped.map((item) => nameOf(item)));
    const isElsewhere = elsewhere(level, meaning);
    const taken = references.filter(({ node }) => !isElsewhere(node));
    for (const column of taken.flatMap((reference) => columnsOf(reference, level, tableOf))) {
      if (known.has(nameOf(column))) continue;
      known.add(nameOf(column));
      grouped.push(column);
    }
  }
}

function nameOf(item: Tree): string {
  return JSON.stringify(names((item.ColumnRef as Tree | undefined)?.fields));
}

/** The columns of a level that a reference takes. */
function columnsOf(reference: Reference, level: Level, tableOf: TableOf): Tree[] {
  const { names: parts, scope } = reference;
  const source = parts.length > 1 ? sourceOf(reference, (range) => tableOf(range).schema) : undefined;
  const isHere = source ? level.sources.includes(source) : scope.sources.some((one) => level.sources.includes(one));
  if (!isHere) return [];
  if (parts.at(-1) !== '*') return [columnRef(...parts)];
  const tables = level.sources.filter((one) => one.table && (!source || one === source));
  return tables.flatMap(({ name, table }) => tableOf(table!).columns.map((column) => columnRef(name!, column)));
}

/** Whether a reference is within an aggregate, in the clauses that come before grouping, or a name of the result. */
function elsewhere({ select }: Level, meaning: Meaning): (reference: Tree) => boolean {
  const { targetList, havingClause, sortClause, windowClause } = select;
  const after = [...visits([targetList, havingClause, windowClause])];
  const sorted = [...visits(sortClause)];
  const outputs = new Set(((targetList ?? []) as { ResTarget: Tree }[]).map(({ ResTarget }) => ResTarget.name));
  const aggregates = [...after, ...sorted].filter((visit) => isAggregate(meaning, visit));
  const isAfter = nodesIn(after);
  const isSorted = nodesIn(sorted);
  const isAggregated = nodesIn(aggregates.flatMap(({ node }) => [...visits(node)]));
  return (reference) => {
    const [name, ...more] = names(reference.fields);
    const isOutput = more.length === 0 && outputs.has(name);
    return isAggregated.has(reference) || !(isAfter.has(reference) || (isSorted.has(reference) && !isOutput));
  };
}

function nodesIn(found: readonly Visit[]): ReadonlySet<Tree> {
  return new Set(found.map(({ node }) => node));
}
