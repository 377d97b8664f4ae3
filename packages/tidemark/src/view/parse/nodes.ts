/** Makes nodes of the parse tree. */
import type { Tree } from './tree.js';

function strings(names: readonly string[]): Tree[] {
  return names.map((sval) => ({ String: { sval } }));
}

/** Returns a reference such as `todo.title`. The name `*` becomes a star. */
export function columnRef(...names: readonly string[]): Tree {
  const fields = strings(names);
  return { ColumnRef: { fields: names.at(-1) === '*' ? fields.with(-1, { A_Star: {} }) : fields } };
}

export function cast(arg: Tree, ...type: readonly string[]): Tree {
  return { TypeCast: { arg, typeName: { names: strings(type), typemod: -1 } } };
}

export function call(name: readonly string[], ...args: readonly Tree[]): Tree {
  return { FuncCall: { funcname: strings(name), args, funcformat: 'COERCE_EXPLICIT_CALL' } };
}

/** Returns an integer constant. The parser omits zeros. */
export function integer(ival: number): Tree {
  return { A_Const: { ival: ival === 0 ? {} : { ival } } };
}

/**
 * Returns the bytes of a value's text, which differ for any two values that do. The empty string makes it a computed
 * expression, because Postgres sorts rows of one column by only the first of several orders of that column.
 */
export function bytes(value: Tree): Tree {
  const arg = call(['pg_catalog', 'textcat'], cast(value, 'text'), { A_Const: { sval: { sval: '' } } });
  return { CollateClause: { arg, collname: strings(['pg_catalog', 'C']) } };
}

export function ascending(node: Tree): Tree {
  return { SortBy: { node, sortby_dir: 'SORTBY_DEFAULT', sortby_nulls: 'SORTBY_NULLS_DEFAULT' } };
}

/** Replaces the node in a holder. */
export function put(holder: Tree, node: Tree): void {
  for (const key of Object.keys(holder)) delete holder[key];
  Object.assign(holder, node);
}
