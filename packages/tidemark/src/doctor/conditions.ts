/** Parses the conditions in plans. Pure. */
import { parseSelect } from '../view/parse/syntax.js';
import { isTree, names, type Tree, visits } from '../view/parse/tree.js';

/**
 * Finds the columns of one relation that a condition compares by `=` with something else, as the columns of indexes
 * that would help: one index on all of them, or one on each if any of them may be enough.
 *
 * @param condition as `explain verbose` writes it
 * @param alias the relation's alias
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

/** Returns undefined where a plan contains something other than SQL, such as the name of a subplan. */
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

/** Returns the column if an expression is one, even in a cast, which Postgres adds for types such as varchar. */
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
