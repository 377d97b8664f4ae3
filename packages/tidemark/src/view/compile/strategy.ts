/** Chooses the strategy with which changes of a view are found. */
import { isAggregate, type Meaning } from '../analysis/meaning.js';
import { isDistinctOn } from '../determinism/order.js';
import { names, type Tree, visits } from '../parse/tree.js';

/**
 * `incremental` evaluates the view over the changed rows alone, which costs O(changes). `keyed` evaluates it for the
 * partitions that the changed rows affect, now and at the cookie's snapshot, which costs O(affected partitions).
 * `compare` evaluates the whole view twice, which costs O(view), but only if a change may affect it.
 */
export type Strategy = 'incremental' | 'keyed' | 'compare';

class NotMonotone extends Error {}

/**
 * Returns the reason why a query is not monotone; undefined if it is. In a monotone query, more rows in its tables can
 * only add rows to its result, and every row of the result derives from one row of each table on its path.
 */
export function whyNotMonotone(select: Tree, meaning: Meaning): string | undefined {
  try {
    checkSelect(select, meaning);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotMonotone)) throw error;
    return error.message;
  }
}

const notMonotoneClauses: Readonly<Record<string, string>> = {
  withClause: 'WITH',
  groupClause: 'GROUP BY',
  havingClause: 'HAVING',
  windowClause: 'WINDOW',
  limitCount: 'LIMIT',
  limitOffset: 'OFFSET',
  valuesLists: 'VALUES',
};

function checkSelect(select: Tree, meaning: Meaning): void {
  for (const [field, clause] of Object.entries(notMonotoneClauses)) {
    if (select[field]) throw new NotMonotone(`it has ${clause}`);
  }
  if (select.op === 'SETOP_UNION') {
    checkSelect(select.larg as Tree, meaning);
    checkSelect(select.rarg as Tree, meaning);
    return;
  }
  if (select.op !== 'SETOP_NONE') throw new NotMonotone('it has INTERSECT or EXCEPT');
  if (isDistinctOn(select)) throw new NotMonotone('it has DISTINCT ON');
  for (const item of (select.fromClause ?? []) as Tree[]) checkFrom(item, meaning);
  for (const target of (select.targetList ?? []) as { ResTarget: Tree }[]) checkScalar(target.ResTarget.val, meaning);
  checkCondition(select.whereClause, meaning);
}

function checkFrom(item: Tree, meaning: Meaning): void {
  const { RangeVar, RangeSubselect, RangeFunction, JoinExpr } = item as Record<string, Tree | undefined>;
  if (RangeVar) return;
  if (RangeSubselect) {
    checkSelect((RangeSubselect.subquery as { SelectStmt: Tree }).SelectStmt, meaning);
  } else if (RangeFunction) {
    checkScalar(RangeFunction.functions, meaning);
  } else if (JoinExpr) {
    if (JoinExpr.jointype !== 'JOIN_INNER') throw new NotMonotone('it has an outer join');
    checkFrom(JoinExpr.larg as Tree, meaning);
    checkFrom(JoinExpr.rarg as Tree, meaning);
    checkCondition(JoinExpr.quals, meaning);
  } else {
    throw new NotMonotone(`it has ${Object.keys(item)[0]}`);
  }
}

/** Allows AND and OR of plain conditions, EXISTS and IN. A subquery in any other position can make rows disappear. */
function checkCondition(condition: unknown, meaning: Meaning): void {
  const { BoolExpr: bool, SubLink: link } = (condition ?? {}) as { BoolExpr?: Tree; SubLink?: Tree };
  if (bool && bool.boolop !== 'NOT_EXPR') {
    for (const part of bool.args as unknown[]) checkCondition(part, meaning);
  } else if (link && (link.subLinkType === 'EXISTS_SUBLINK' || link.subLinkType === 'ANY_SUBLINK')) {
    checkScalar(link.testexpr, meaning);
    checkTested(link.testexpr);
    checkSelect((link.subselect as { SelectStmt: Tree }).SelectStmt, meaning);
  } else {
    checkScalar(condition, meaning);
  }
}

/** Refuses `*` as a tested value, because multiplexed queries must name these values; see `cohortSelect`. */
function checkTested(tested: unknown): void {
  for (const { type } of visits(tested)) if (type === 'A_Star') throw new NotMonotone('it tests all columns of a row');
}

const scalarNodes = new Set([
  'A_ArrayExpr', 'A_Const', 'A_Expr', 'A_Indices', 'A_Indirection', 'A_Star', 'BoolExpr', 'BooleanTest', 'CaseExpr',
  'CaseWhen', 'CoalesceExpr', 'CollateClause', 'ColumnRef', 'FuncCall', 'Integer', 'List', 'MinMaxExpr', 'NamedArgExpr',
  'NullTest', 'ParamRef', 'RowExpr', 'String', 'TypeCast',
]); // biome-ignore format: a list of names

/** Allows an expression over one row: no subquery, no aggregate, no window function, no unknown node. */
function checkScalar(expression: unknown, meaning: Meaning): void {
  for (const visit of visits(expression)) {
    const { type, node } = visit;
    if (type === 'SubLink' || type === 'JsonArrayQueryConstructor') {
      throw new NotMonotone('it has a subquery outside EXISTS and IN, or under NOT');
    }
    if (!scalarNodes.has(type)) throw new NotMonotone(`it has ${type}`);
    const name = names(node.funcname).at(-1);
    if (node.over) throw new NotMonotone(`it has the window function ${name}`);
    if (isAggregate(meaning, visit)) throw new NotMonotone(`it has the aggregate ${name}`);
  }
}
