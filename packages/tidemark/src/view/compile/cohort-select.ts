/**
 * Rewrites a query so that one statement can evaluate it for several users, with the columns of a row instead of its
 * parameters. Pure: tree in, tree out.
 *
 * Where Postgres does not turn `x in (select …)` or EXISTS into a join, it may read the subquery into a hash table. If
 * the subquery depends on a column of an outer row, Postgres must build the hash table again for each row. But if the
 * condition is copied, as to the arms of a UNION ALL or to partitions, Postgres rebuilds only one of the copies. The
 * others keep the rows of another user (observed on Postgres 15 and 18; nodeSubplan.c, ExecHashSubPlan).
 */
import { columnRef, integer, put } from '../parse/nodes.js';
import { cloneTree, isTree, type Tree, visits } from '../parse/tree.js';

/**
 * The role of a condition. Postgres turns subqueries of a `conjunct` into joins. A `disjunct` is part of an OR or of an
 * outer join's condition, where null has the same effect as false. In an `other` position, neither is certain.
 */
type ConditionRole = 'conjunct' | 'disjunct' | 'other';

/** Returns the rewritten query; undefined if rewriting would change its meaning. */
export function cohortSelect(select: Tree): Tree | undefined {
  const tree = cloneTree(select);
  return rewriteSelect(tree) ? tree : undefined;
}

function rewriteSelect(select: Tree): boolean {
  return Object.entries(select).every(([field, value]) => {
    if (field === 'whereClause') return rewriteCondition(value as Tree, 'conjunct');
    if (field === 'larg' || field === 'rarg') return rewriteSelect(value as Tree);
    return rewriteValue(value);
  });
}

/** Rewrites anything that is neither a SELECT nor a condition. */
function rewriteValue(value: unknown): boolean {
  if (!isTree(value)) return true;
  return Object.entries(value).every(([key, child]) => {
    if (key === 'SelectStmt') return rewriteSelect(child as Tree);
    if (key === 'SubLink') return rewriteTest(value, 'other');
    if (key === 'JoinExpr') return rewriteJoin(child as Tree);
    return rewriteValue(child);
  });
}

function rewriteJoin({ quals, ...join }: Tree): boolean {
  // With a constant, Postgres may find that the condition is always or never true. With a column, it would have to test
  // the condition for each pair of rows, which it cannot do for a full join.
  if (join.jointype === 'JOIN_FULL' && has(quals, 'ParamRef')) return false;
  if (!rewriteValue(join)) return false;
  return (
    quals === undefined || rewriteCondition(quals as Tree, join.jointype === 'JOIN_INNER' ? 'conjunct' : 'disjunct')
  );
}

function rewriteCondition(holder: Tree, role: ConditionRole): boolean {
  if (holder.SubLink) return rewriteTest(holder, role);
  const { boolop, args } = (holder.BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
  if (!args) return rewriteValue(holder);
  if (boolop === 'NOT_EXPR') return isExists(args[0]!) ? rewriteTest(args[0]!, role) : rewriteValue(args);
  return args.every((arg) => rewriteCondition(arg, boolop === 'OR_EXPR' ? 'disjunct' : role));
}

function isExists({ SubLink: link }: Tree): boolean {
  return (link as Tree | undefined)?.subLinkType === 'EXISTS_SUBLINK';
}

/** @param holder the object `{ SubLink: … }` */
function rewriteTest(holder: Tree, role: ConditionRole): boolean {
  const { subLinkType, testexpr, subselect, operName } = holder.SubLink as Tree;
  const { SelectStmt: select } = subselect as { SelectStmt: Tree };
  if (!rewriteSelect(select) || !rewriteValue(testexpr)) return false;
  if (!has(select, 'ParamRef')) return true;
  if (isExists(holder)) {
    if (role !== 'conjunct' || select.withClause) evaluateEach(select);
    return true;
  }
  if (subLinkType !== 'ANY_SUBLINK') return true;
  // The number of columns in `t.*` is unknown here.
  if (role === 'other' || has(testexpr, 'SubLink') || has(testexpr, 'A_Star')) return false;
  const matching = matchingRows(select, testexpr as Tree, operName);
  if (role === 'disjunct') evaluateEach(matching);
  put(holder, { SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: matching } } });
  return true;
}

/** Adds OFFSET 0, which makes Postgres evaluate a subquery for each row of the outer query. */
function evaluateEach(select: Tree): void {
  select.limitOffset ??= integer(0);
  select.limitOption = 'LIMIT_OPTION_COUNT';
}

const alias = 'tidemark_s';

/** Returns the rows of a subquery whose comparison with a value, or with a row of values, is true. */
export function matchingRows(select: Tree, tested: Tree, operator: unknown = [{ String: { sval: '=' } }]): Tree {
  const row = tested.RowExpr as Tree | undefined;
  // The subquery's own column names must not hide columns that the tested values refer to.
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

function has(value: unknown, nodeType: string): boolean {
  for (const { type } of visits(value)) if (type === nodeType) return true;
  return false;
}
