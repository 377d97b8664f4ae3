/** Chooses how the changes of a view are found. */
import { names, type Tree, visits } from './syntax.js';

/**
 * `incremental`: the view is evaluated over the changed rows alone; cost O(changes).
 * `compare`: the view now against the view as of the cookie's snapshot; cost O(view), only when a table it reads has changed.
 */
export type Strategy = 'incremental' | 'compare';

export interface Choice {
  readonly strategy: Strategy;
  /** Why not incremental. */
  readonly reason?: string;
}

class NotMonotone extends Error {}

/**
 * A query is incremental when it is monotone: more rows in its tables can only add rows to its result, and every row of
 * the result owes itself to one row of each table on its way. What is not recognised as such falls to compare.
 *
 * @param aggregates names of the aggregate and window functions among those the query calls
 */
export function chooseStrategy(select: Tree, aggregates: ReadonlySet<string>): Choice {
  try {
    checkSelect(select, aggregates);
    return { strategy: 'incremental' };
  } catch (error) {
    if (!(error instanceof NotMonotone)) throw error;
    return { strategy: 'compare', reason: error.message };
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

function checkSelect(select: Tree, aggregates: ReadonlySet<string>): void {
  for (const [field, clause] of Object.entries(notMonotoneClauses)) {
    if (select[field]) throw new NotMonotone(`it has ${clause}`);
  }
  if (select.op === 'SETOP_UNION') {
    checkSelect(select.larg as Tree, aggregates);
    checkSelect(select.rarg as Tree, aggregates);
    return;
  }
  if (select.op !== 'SETOP_NONE') throw new NotMonotone('it has INTERSECT or EXCEPT');
  if ((select.distinctClause as Tree[] | undefined)?.some((item) => Object.keys(item).length > 0)) {
    throw new NotMonotone('it has DISTINCT ON');
  }
  for (const item of (select.fromClause ?? []) as Tree[]) checkFrom(item, aggregates);
  for (const target of (select.targetList ?? []) as { ResTarget: Tree }[])
    checkScalar(target.ResTarget.val, aggregates);
  checkCondition(select.whereClause, aggregates);
}

function checkFrom(item: Tree, aggregates: ReadonlySet<string>): void {
  const { RangeVar, RangeSubselect, RangeFunction, JoinExpr } = item as Record<string, Tree | undefined>;
  if (RangeVar) return;
  if (RangeSubselect) {
    checkSelect((RangeSubselect.subquery as { SelectStmt: Tree }).SelectStmt, aggregates);
  } else if (RangeFunction) {
    checkScalar(RangeFunction.functions, aggregates);
  } else if (JoinExpr) {
    if (JoinExpr.jointype !== 'JOIN_INNER') throw new NotMonotone('it has an outer join');
    checkFrom(JoinExpr.larg as Tree, aggregates);
    checkFrom(JoinExpr.rarg as Tree, aggregates);
    checkCondition(JoinExpr.quals, aggregates);
  } else {
    throw new NotMonotone(`it has ${Object.keys(item)[0]}`);
  }
}

/** AND and OR of plain conditions, EXISTS and IN: subqueries in any other place can make rows vanish. */
function checkCondition(condition: unknown, aggregates: ReadonlySet<string>): void {
  const { BoolExpr: bool, SubLink: link } = (condition ?? {}) as { BoolExpr?: Tree; SubLink?: Tree };
  if (bool && bool.boolop !== 'NOT_EXPR') {
    for (const part of bool.args as unknown[]) checkCondition(part, aggregates);
  } else if (link && (link.subLinkType === 'EXISTS_SUBLINK' || link.subLinkType === 'ANY_SUBLINK')) {
    checkScalar(link.testexpr, aggregates);
    checkSelect((link.subselect as { SelectStmt: Tree }).SelectStmt, aggregates);
  } else {
    checkScalar(condition, aggregates);
  }
}

const scalarNodes = new Set([
  'A_ArrayExpr', 'A_Const', 'A_Expr', 'A_Indices', 'A_Indirection', 'A_Star', 'BoolExpr', 'BooleanTest', 'CaseExpr',
  'CaseWhen', 'CoalesceExpr', 'CollateClause', 'ColumnRef', 'FuncCall', 'Integer', 'List', 'MinMaxExpr', 'NamedArgExpr',
  'NullTest', 'ParamRef', 'RowExpr', 'String', 'TypeCast',
]); // biome-ignore format: a list of names

/** An expression over one row: no subquery, no aggregate, no window function, nothing unknown. */
function checkScalar(expression: unknown, aggregates: ReadonlySet<string>): void {
  for (const { type, node } of visits(expression)) {
    if (type === 'SubLink') throw new NotMonotone('it has a subquery outside EXISTS and IN, or below NOT');
    if (!scalarNodes.has(type)) throw new NotMonotone(`it has ${type}`);
    if (type !== 'FuncCall') continue;
    const name = names(node.funcname).at(-1)!;
    if (node.over) throw new NotMonotone(`it has the window function ${name}`);
    if (node.agg_star || node.agg_order || node.agg_filter || aggregates.has(name)) {
      throw new NotMonotone(`it has the aggregate ${name}`);
    }
  }
}
