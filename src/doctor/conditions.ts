/** Reads the conditions that plans contain. Pure. */
import { parseSelect } from '../view/parse/syntax.js';
import { isTree, names, type Tree, visits } from '../view/parse/tree.js';

/**
 * The columns of one relation that a condition compares with = to something else, as the columns of indexes that would
 * help: one index for all, or one for each where any of them may be enough.
 *
 * @param condition as `explain verbose` writes it
 * @param alias the relation's
 */
export function equalColumns(condition: string, alias: string): string[][] {
  const where = parsed(condition);
  if (!where) return [];
  const columns = [...visits({ where })]
    .filter(({ type, node }) => type === 'A_Expr' && names(node.name).join() === '=')
    .flatMap(({ node }) => comparedColumn(node, alias));
  const distinct = [...new Set(columns)];
  const isEither = [...visits({ where })].some(({ type, node }) => type === 'BoolExpr' && node.boolop === 'OR_EXPR');
  if (isEither) return distinct.map((column) => [column]);
  return distinct.length === 0 ? [] : [distinct];
}

/** Undefined where a plan writes what is not SQL, such as the name of a subplan. */
function parsed(condition: string): unknown {
  const text = condition.replaceAll(/\((?:hashed |alternatives: )?SubPlan [^()]*\)/g, '(true)');
  try {
    return parseSelect(`select where ${text}`).whereClause;
  } catch {
    return undefined;
  }
}

function comparedColumn({ lexpr, rexpr }: Tree, alias: string): string[] {
  const [left, right] = [columnOf(lexpr, alias), columnOf(rexpr, alias)];
  if (left !== undefined && !mentions(rexpr, alias)) return [left];
  if (right !== undefined && !mentions(lexpr, alias)) return [right];
  return [];
}

/** The column that an expression is, perhaps with a cast, which Postgres writes for types such as varchar. */
function columnOf(expression: unknown, alias: string): string | undefined {
  const { ColumnRef, TypeCast } = (expression ?? {}) as { ColumnRef?: Tree; TypeCast?: Tree };
  if (TypeCast) return columnOf(TypeCast.arg, alias);
  const [relation, column] = names(ColumnRef?.fields);
  return relation === alias ? column : undefined;
}

function mentions(expression: unknown, alias: string): boolean {
  if (!isTree(expression)) return false;
  return [...visits(expression)].some(({ type, node }) => type === 'ColumnRef' && names(node.fields)[0] === alias);
}
