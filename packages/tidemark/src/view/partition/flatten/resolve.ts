/** Finds the columns of joined tables that an expression of a query refers to. Pure. */
import { columnReadBy, resolvedIn } from '../../analysis/exactness.js';
import type { Meaning } from '../../analysis/meaning.js';
import { isNode, isSameVariable, numberOf, type QueryNode } from '../../analysis/query-tree.js';
import { isLimited } from '../../determinism/order.js';
import type { NamedTables } from '../../determinism/qualify.js';
import type { Tree } from '../../parse/tree.js';
import type { Column, Entries, Join } from './joins.js';
import { mergedColumns } from './merged-columns.js';

/** The meaning and the tables of the query to flatten. */
export interface QueryContext {
  readonly meaning: Meaning;
  /** The number of each table's occurrence in the query, by its RangeVar. */
  readonly occurrences: ReadonlyMap<Tree, number>;
  readonly namedTables: NamedTables;
  /** The SELECT whose LIMIT is ignored. */
  readonly unlimited?: Tree | undefined;
}

/** True if LIMIT or OFFSET can remove rows from a SELECT's result. */
export function leavesOutRows(select: Tree, { unlimited }: QueryContext): boolean {
  return select !== unlimited && isLimited(select);
}

/** A query around an expression, and the columns of its entries that are known there. */
export interface Level {
  readonly query: QueryNode;
  readonly columns: Entries;
}

/** One SELECT without set operations. */
export interface Block {
  readonly query: QueryNode;
  readonly meaning: Meaning;
  readonly outer: readonly Level[];
  /** The entries of its range table in which the conditions require a row. */
  readonly required: ReadonlySet<number>;
}

/** Returns the queries around an expression in a block, from the block itself outwards. */
export function levelsOf({ query, outer }: Block, { columns }: Join): Level[] {
  return [{ query, columns }, ...outer];
}

/** Returns the joined table's column that a reference in a block refers to; undefined if it refers to anything else. */
export function columnIn(node: Tree, join: Join, block: Block): Column | undefined {
  const variable = variableOf(node, block.meaning);
  return variable && columnOfVariable(variable, levelsOf(block, join));
}

function columnOfVariable(variable: QueryNode, levels: readonly Level[]): Column | undefined {
  const level = levels[numberOf(variable, 'varlevelsup')!];
  return level && columnOfTarget(here(variable), level);
}

/** Returns the joined table's column that a column of a query's result contains; undefined if it is anything else. */
export function columnOfTarget(target: QueryNode, level: Level): Column | undefined {
  const found = columnReadBy(target, level.query);
  if (found) return level.columns.get(found.entryNumber)?.[found.column - 1];
  const merged = mergedColumns(resolvedIn(level.query, target), level.query);
  return merged.map((one) => columnOfTarget(one, level)).find((column) => column !== undefined);
}

/** Returns the number of the range table entry that a column reference of this query reads. */
export function entryOf(node: Tree, meaning: Meaning, query: QueryNode): number | undefined {
  const variable = variableOf(node, meaning);
  return variable && columnReadBy(variable, query)?.entryNumber;
}

/** Returns a reference's variable; undefined if it is not a column, or Postgres has replaced it by different ones. */
function variableOf(node: Tree, meaning: Meaning): QueryNode | undefined {
  const [variable, ...others] = meaning.nodesOf(node).filter(({ tag }) => tag === 'VAR');
  const isSame = (other: QueryNode) => isSameVariable(variable!, other);
  return variable && numberOf(variable, 'varattno')! > 0 && others.every(isSame) ? variable : undefined;
}

function here(variable: QueryNode): QueryNode {
  return { ...variable, fields: { ...variable.fields, varlevelsup: '0' } };
}

/** Returns the numbers of the entries in an item of FROM. */
export function entriesIn(item: QueryNode): number[] {
  if (item.tag === 'RANGETBLREF') return [numberOf(item, 'rtindex')!];
  return [item.fields.larg, item.fields.rarg].filter(isNode).flatMap(entriesIn);
}
