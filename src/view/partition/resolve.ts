/** Finds the columns of joined tables that an expression of a query refers to. Pure. */
import type { Table } from '../../catalog/tables.js';
import { columnReadBy, resolvedIn } from '../analysis/exactness.js';
import type { Meaning } from '../analysis/meaning.js';
import { isNode, isSameVariable, numberOf, type QueryNode } from '../analysis/query-tree.js';
import type { Tree } from '../parse/tree.js';
import { isLimited } from '../settle/order.js';
import type { Column, Entries } from './joins.js';
import { mergedColumns } from './merged-columns.js';

/** What a query reads. */
export interface Reading {
  readonly meaning: Meaning;
  /** The number of each table that the query reads, by its RangeVar. */
  readonly occurrences: ReadonlyMap<Tree, number>;
  readonly tableOf: (range: Tree) => Table;
  /** The SELECT whose LIMIT is left out. */
  readonly unlimited?: Tree | undefined;
}

/** True if a SELECT has rows that its result lacks. */
export function leavesOutRows(select: Tree, { unlimited }: Reading): boolean {
  return select !== unlimited && isLimited(select);
}

/** A query that a place is in, and the columns of its entries that are known there. */
export interface Level {
  readonly query: QueryNode;
  readonly columns: Entries;
}

/** What a column reference stands for. Undefined if that is no column of a joined table. */
export function columnOf(node: Tree, meaning: Meaning, levels: readonly Level[]): Column | undefined {
  const variable = variableOf(node, meaning);
  return variable && columnOfVariable(variable, levels);
}

function columnOfVariable(variable: QueryNode, levels: readonly Level[]): Column | undefined {
  const level = levels[numberOf(variable, 'varlevelsup')!];
  return level && columnOfTarget(here(variable), level);
}

/** The column of a query's result, if it is one of a joined table. */
export function columnOfTarget(target: QueryNode, level: Level): Column | undefined {
  const found = columnReadBy(target, level.query);
  if (found) return level.columns.get(found.entryNumber)?.[found.column - 1];
  const merged = mergedColumns(resolvedIn(level.query, target), level.query);
  return merged.map((one) => columnOfTarget(one, level)).find((column) => column !== undefined);
}

/** The number of the entry of a query's range table that a column reference of this query reads. */
export function entryOf(node: Tree, meaning: Meaning, query: QueryNode): number | undefined {
  const variable = variableOf(node, meaning);
  return variable && columnReadBy(variable, query)?.entryNumber;
}

/** Undefined if a reference is to no column, or Postgres has made several of it. */
function variableOf(node: Tree, meaning: Meaning): QueryNode | undefined {
  const [variable, ...others] = meaning.nodesOf(node).filter(({ tag }) => tag === 'VAR');
  const isSame = (other: QueryNode) => isSameVariable(variable!, other);
  return variable && numberOf(variable, 'varattno')! > 0 && others.every(isSame) ? variable : undefined;
}

function here(variable: QueryNode): QueryNode {
  return { ...variable, fields: { ...variable.fields, varlevelsup: '0' } };
}

/** The numbers of the entries that an item of FROM consists of. */
export function entriesIn(item: QueryNode): number[] {
  if (item.tag === 'RANGETBLREF') return [numberOf(item, 'rtindex')!];
  return [item.fields.larg, item.fields.rarg].filter(isNode).flatMap(entriesIn);
}
