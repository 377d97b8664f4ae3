/**
 * Rewrites a query so that it can be evaluated for several users in one statement, with the columns of a row in place of
 * its parameters. Pure: tree in, tree out.
 *
 * Where Postgres does not turn `x in (select …)` or EXISTS into a join, it may read the subquery into a hash table. If
 * the subquery depends on such a column, which comes from further out, the table must be read again for each row. But if
 * the condition is copied, as it is to the arms of a UNION ALL or to partitions, Postgres does that for only one of the
 * copies: the others keep the rows of another user (observed on Postgres 15 and 18; nodeSubplan.c, ExecHashSubPlan).
 */
import { columnRef, integer, put } from '../parse/nodes.js';
import { cloneTree, isTree, type Tree, visits } from '../parse/tree.js';

/**
 * Where a condition stands. Postgres turns subqueries of `conjunct`s into joins. A `disjunct` is part of an OR, or
 * decides about an outer join; that it is null means the same as that it is false. Of any other place, neither is known.
 */
type Place = 'conjunct' | 'disjunct' | 'other';

/** Returns undefined if that cannot be done without changing what the query means. */
export function seatedSelect(select: Tree): Tree | undefined {
  const tree = cloneTree(select);
  return settleSelect(tree) ? tree : undefined;
}

function settleSelect(select: Tree): boolean {
  return Object.entries(select).every(([field, value]) => {
    if (field === 'whereClause') return settleCondition(value as Tree, 'conjunct');
    if (field === 'larg' || field === 'rarg') return settleSelect(value as Tree);
    return settle(value);
  });
}

/** Settles what is neither a SELECT nor a condition by itself. */
function settle(value: unknown): boolean {
  if (!isTree(value)) return true;
  return Object.entries(value).every(([key, child]) => {
    if (key === 'SelectStmt') return settleSelect(child as Tree);
    if (key === 'SubLink') return settleTest(value, 'other');
    if (key === 'JoinExpr') return settleJoin(child as Tree);
    return settle(child);
  });
}

function settleJoin({ quals, ...join }: Tree): boolean {
  // With a constant, Postgres may find that the condition is always true, or never. With a column, it would have to test
  // the condition for each pair of rows, which it does not do for a full join.
  if (join.jointype === 'JOIN_FULL' && has(quals, 'ParamRef')) return false;
  if (!settle(join)) return false;
  return (
    quals === undefined || settleCondition(quals as Tree, join.jointype === 'JOIN_INNER' ? 'conjunct' : 'disjunct')
  );
}

function settleCondition(holder: Tree, place: Place): boolean {
  if (holder.SubLink) return settleTest(holder, place);
  const { boolop, args } = (holder.BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
  if (!args) return settle(holder);
  if (boolop === 'NOT_EXPR') return isExists(args[0]!) ? settleTest(args[0]!, place) : settle(args);
  return args.every((arg) => settleCondition(arg, boolop === 'OR_EXPR' ? 'disjunct' : place));
}

function isExists({ SubLink: link }: Tree): boolean {
  return (link as Tree | undefined)?.subLinkType === 'EXISTS_SUBLINK';
}

/** @param holder the object `{ SubLink: … }` */
function settleTest(holder: Tree, place: Place): boolean {
  const { subLinkType, testexpr, subselect, operName } = holder.SubLink as Tree;
  const { SelectStmt: select } = subselect as { SelectStmt: Tree };
  if (!settleSelect(select) || !settle(testexpr)) return false;
  if (!has(select, 'ParamRef')) return true;
  if (isExists(holder)) {
    if (place !== 'conjunct' || select.withClause) evaluateEach(select);
    return true;
  }
  if (subLinkType !== 'ANY_SUBLINK') return true;
  // How many values `t.*` stands for is not known here.
  if (place === 'other' || has(testexpr, 'SubLink') || has(testexpr, 'A_Star')) return false;
  const matching = matchingRows(select, testexpr as Tree, operName);
  if (place === 'disjunct') evaluateEach(matching);
  put(holder, { SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: matching } } });
  return true;
}

/** Postgres evaluates a subquery with OFFSET for each row of the query around it. */
function evaluateEach(select: Tree): void {
  select.limitOffset ??= integer(0);
  select.limitOption = 'LIMIT_OPTION_COUNT';
}

const alias = 'tidemark_s';

/** The rows of a subquery with which the comparison of a value, or of a row of values, succeeds. */
export function matchingRows(select: Tree, tested: Tree, operator: unknown = [{ String: { sval: '=' } }]): Tree {
  const row = tested.RowExpr as Tree | undefined;
  // The subquery's own names for its columns must not hide those that the tested values mean.
  const columns = ((row?.args ?? [tested]) as unknown[]).map((_, i) => `tidemark_${i + 1}`);
  const args = columns.map((column) => columnRef(alias, column));
  const colnames = columns.map((sval) => ({ String: { sval } }));
  return {
    targetList: [{ ResTarget: { val: integer(1) } }],
    fromClause: [{ RangeSubselect: { subquery: { SelectStmt: select }, alias: { aliasname: alias, colnames } } }],
    whereClause: {
      A_Expr: { kind: 'AEXPR_OP', name: operator, lexpr: tested, rexpr: row ? { RowExpr: { ...row, args } } : args[0] },
    },
    limitOption: 'LIMIT_OPTION_DEFAULT',
    op: 'SETOP_NONE',
  };
}

function has(value: unknown, wanted: string): boolean {
  for (const { type } of visits(value)) if (type === wanted) return true;
  return false;
}
