/**
 * Groups by every column that a query may use because it groups by the primary key of the column's table. If the query
 * reads another state of the table, Postgres knows no primary key.
 */
import { isAggregate, type Meaning } from '../analysis/meaning.js';
import { numberOf } from '../analysis/query-tree.js';
import { columnRef } from '../parse/nodes.js';
import { type FromItem, fromItemOf, type Level, type Reference, type Scope, scopesOf } from '../parse/scopes.js';
import { names, type Tree, type Visit, visits } from '../parse/tree.js';
import { columnName, type NamedTables, tableOf } from './qualify.js';

/** Adds the columns to each GROUP BY that relies on a primary key. */
export function groupByColumns(select: Tree, meaning: Meaning, namedTables: NamedTables): void {
  const { levels, references } = scopesOf(select);
  for (const level of levels) {
    if (!meaning.queryOf(level.select)?.fields.constraintDeps) continue;
    const grouped = level.select.groupClause as Tree[];
    const groupedNames = new Set(grouped.map((item) => nameOf(item)));
    const takenHere = takenAfterGrouping(references, level, meaning).filter((reference) =>
      isOf(level, reference, meaning, namedTables),
    );
    for (const column of takenHere.flatMap((reference) => columnsOf(reference, level, namedTables))) {
      if (groupedNames.has(nameOf(column))) continue;
      groupedNames.add(nameOf(column));
      grouped.push(column);
    }
  }
}

function nameOf(item: Tree): string {
  return JSON.stringify(names((item.ColumnRef as Tree | undefined)?.fields));
}

/** Checks whether a reference, at any depth, refers to a column of this level. */
function isOf({ fromItems }: Level, reference: Reference, meaning: Meaning, namedTables: NamedTables): boolean {
  const fromItem = qualifierOf(reference, namedTables);
  if (fromItem) return fromItems.includes(fromItem);
  const variable = meaning.nodesOf(reference.node).find(({ tag }) => tag === 'VAR');
  let scope: Scope | undefined = reference.scope;
  for (let out = (variable && numberOf(variable, 'varlevelsup')) ?? 0; out > 0; out--) scope = scope?.outer;
  return scope?.fromItems.some((one) => fromItems.includes(one)) ?? false;
}

/** Returns the FROM item that a reference names, as in `todo.title`, `todo.*` and `(todo).title`. */
function qualifierOf(reference: Reference, namedTables: NamedTables): FromItem | undefined {
  const { names: parts, isRow } = reference;
  return parts.length > 1 || isRow ? fromItemOf(reference, (range) => tableOf(range, namedTables).schema) : undefined;
}

/** Returns the columns of a level that a reference uses. */
function columnsOf(reference: Reference, level: Level, namedTables: NamedTables): Tree[] {
  const fromItem = qualifierOf(reference, namedTables);
  const { names: parts } = reference;
  const isRow = parts.at(-1) === '*' || (fromItem && parts.length === 1);
  if (!isRow) return [columnRef(...parts)];
  const tables = level.fromItems.filter((one) => one.table && (!fromItem || one === fromItem));
  return tables.flatMap(({ name, table: range }) => {
    const table = tableOf(range!, namedTables);
    return table.columns.map((column) => columnRef(name!, columnName(range!, table, column)));
  });
}

/** Returns all references but those within an aggregate or a clause before grouping, and names of the result. */
function takenAfterGrouping(references: readonly Reference[], { select }: Level, meaning: Meaning): Reference[] {
  const { targetList, havingClause, sortClause, windowClause } = select;
  const after = [...visits([targetList, havingClause, windowClause])];
  const sorted = [...visits(sortClause)];
  const outputs = new Set(((targetList ?? []) as { ResTarget: Tree }[]).map(({ ResTarget }) => ResTarget.name));
  const aggregates = [...after, ...sorted].filter((visit) => isAggregate(meaning, visit));
  const isAfter = nodesIn(after);
  const isSorted = nodesIn(sorted);
  const isAggregated = nodesIn(aggregates.flatMap(({ node }) => [...visits(node)]));
  return references.filter(({ node }) => {
    const [name, ...more] = names(node.fields);
    const isOutput = more.length === 0 && outputs.has(name);
    return !isAggregated.has(node) && (isAfter.has(node) || (isSorted.has(node) && !isOutput));
  });
}

function nodesIn(found: readonly Visit[]): ReadonlySet<Tree> {
  return new Set(found.map(({ node }) => node));
}
