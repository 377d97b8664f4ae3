/**
 * Rewrites a query that is read as a whole, so that Postgres can use indexes. Pure: tree in, tree out.
 *
 * Postgres estimates that `owner_id = me OR id IN (SELECT …)` is true for half of all rows, and so reads whole tables.
 * As part of a UNION ALL, each alternative can use its own index, and Postgres estimates it correctly.
 */
import { allOf, conjuncts, disjuncts } from '../parse/conditions.js';
import { cloneTree, isTree, names, type Tree, visits } from '../parse/tree.js';

/** The maximum number of ORs to rewrite, since each copies the conditions beside it, and of alternatives in each. */
const maxSplits = 8;
const maxArms = 4;

/**
 * Returns a query with the same rows, each equally often; undefined if there is nothing to rewrite.
 * @param isMonotone true if `whyNotMonotone` finds no reason
 */
export function wholeSelect(select: Tree, isMonotone: boolean): Tree | undefined {
  const tree = { SelectStmt: cloneTree(select) };
  let splits = 0;
  const split = (one: Tree, isOneOf: boolean): Tree => {
    if (one.op === 'SETOP_UNION' && !isLimited(one)) {
      return { ...one, larg: split(one.larg as Tree, isOneOf), rarg: split(one.rarg as Tree, isOneOf) };
    }
    const arms = splits < maxSplits ? armsOf(one, isOneOf) : undefined;
    if (!arms) return one;
    splits++;
    return unionOf(arms);
  };
  if (isMonotone) tree.SelectStmt = split(tree.SelectStmt, false);
  for (const { type, node } of visits(tree)) {
    if (type !== 'SubLink' || !isIn(node)) continue;
    const tested = node.subselect as { SelectStmt: Tree };
    tested.SelectStmt = split(tested.SelectStmt, true);
  }
  return splits > 0 ? tree.SelectStmt : undefined;
}

/** The clauses of a SELECT whose rows each depend on one row of each table, so that its arms are independent. */
const clauses = new Set(['targetList', 'fromClause', 'whereClause', 'op', 'limitOption']);

/**
 * Returns a query for each alternative of an OR that contains a subquery; undefined if there is no such OR.
 * @param isOneOf true if only the set of rows matters, so that the arms may share rows
 */
function armsOf(select: Tree, isOneOf: boolean): Tree[] | undefined {
  if (select.op !== 'SETOP_NONE' || !Object.keys(select).every((clause) => clauses.has(clause))) return undefined;
  if (isOneOf && !isPlain(select.targetList)) return undefined;
  const conditions = conjuncts(select.whereClause);
  const index = conditions.findIndex((condition) => isSplit(apart(condition)));
  if (index === -1) return undefined;
  const alternatives = alternativesOf(apart(conditions[index]!));
  if (alternatives.length > maxArms) return undefined;
  return alternatives.map((alternative, i) => {
    const others = isOneOf ? [] : alternatives.slice(0, i).map(isNotTrue);
    const whereClause = allOf(conditions.toSpliced(index, 1, alternative, ...others));
    return cloneTree({ ...select, whereClause });
  });
}

/** With LIMIT or OFFSET, the number of equal rows matters. */
function isLimited({ limitCount, limitOffset }: Tree): boolean {
  return (limitCount ?? limitOffset) !== undefined;
}

/** Rewrites EXISTS with an OR to an OR of EXISTS, since Postgres makes no join of an EXISTS with a UNION. */
function apart(condition: Tree): Tree {
  const link = condition.SubLink as Tree | undefined;
  const arms = isExists(link) ? armsOf((link.subselect as { SelectStmt: Tree }).SelectStmt, true) : undefined;
  if (!arms) return condition;
  const args = arms.map((arm) => ({ SubLink: { ...link, subselect: { SelectStmt: arm } } }));
  return { BoolExpr: { boolop: 'OR_EXPR', args } };
}

/**
 * Checks whether to split a condition: an OR with an IN or an EXISTS in which nothing can fail. Each arm tests all
 * rows, but in an OR, Postgres tests an alternative only if the previous ones are not true.
 */
function isSplit(condition: Tree): boolean {
  const alternatives = disjuncts(condition);
  return alternatives.some(isJoin) && isPlain(alternatives);
}

/** Checks whether Postgres turns a condition into a join if it is not within an OR. */
function isJoin({ SubLink: link }: Tree): boolean {
  return isIn(link as Tree | undefined) || isExists(link as Tree | undefined);
}

function isIn(link: Tree | undefined): boolean {
  return link?.subLinkType === 'ANY_SUBLINK';
}

function isExists(link: Tree | undefined): link is Tree {
  return link?.subLinkType === 'EXISTS_SUBLINK';
}

/** Returns each IN and EXISTS, and all other alternatives together, as an OR if there are several. */
function alternativesOf(condition: Tree): Tree[] {
  const alternatives = disjuncts(condition);
  const others = alternatives.filter((disjunct) => !isJoin(disjunct));
  const rest = others.length > 1 ? [{ BoolExpr: { boolop: 'OR_EXPR', args: others } }] : others;
  return [...rest, ...alternatives.filter(isJoin)];
}

function isNotTrue(arg: Tree): Tree {
  return { BooleanTest: { arg, booltesttype: 'IS_NOT_TRUE' } };
}

function unionOf(arms: readonly Tree[]): Tree {
  return arms.reduce((larg, rarg) => ({
    limitOption: 'LIMIT_OPTION_DEFAULT',
    op: 'SETOP_UNION',
    all: true,
    larg,
    rarg,
  }));
}

const plainNodes = new Set([
  'A_Const', 'A_Expr', 'A_Star', 'Alias', 'BoolExpr', 'BooleanTest', 'ColumnRef', 'Integer', 'JoinExpr', 'List',
  'NullTest', 'ParamRef', 'RangeSubselect', 'RangeVar', 'ResTarget', 'RowExpr', 'SelectStmt', 'String', 'SubLink',
  'TypeCast',
]); // biome-ignore format: a list of names

const comparisons = new Set(['=', '<>', '<', '<=', '>', '>=']);
const plainKinds = new Set(['AEXPR_OP', 'AEXPR_IN', 'AEXPR_OP_ANY', 'AEXPR_DISTINCT', 'AEXPR_NOT_DISTINCT']);

/** Checks that conditions or columns contain only comparisons, which cannot fail for any row. */
function isPlain(condition: unknown): boolean {
  for (const { type, node } of visits(condition)) {
    if (!plainNodes.has(type)) return false;
    if (type === 'A_Expr' && !(plainKinds.has(node.kind as string) && isComparison(node))) return false;
    if (type === 'SubLink' && !isIn(node) && !isExists(node)) return false;
    if (type === 'SelectStmt' && isLimited(node)) return false;
    if (type === 'TypeCast' && !isConstant(node.arg)) return false;
  }
  return true;
}

function isComparison({ name }: Tree): boolean {
  const [operator, ...more] = names(name);
  return more.length === 0 && comparisons.has(operator!);
}

/** The cast of a constant or a parameter fails at planning, or never. */
function isConstant(arg: unknown): boolean {
  return isTree(arg) && (arg.A_Const !== undefined || arg.ParamRef !== undefined);
}
