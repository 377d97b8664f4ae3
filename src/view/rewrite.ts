/** Rewrites a view's query so that tables stand for other states of themselves. Pure: tree in, text out. */
import type { Occurrence } from './inspect.js';
import { at, cloneTree, deparseSelect, type Path, type Tree, visits } from './syntax.js';

/** What a table's occurrence stands for: the name of a WITH query to read in its place, or the table itself. */
export type Stand = string | 'now';

/**
 * The query with each occurrence reading what stands for it.
 *
 * @param focus the occurrence that must be on the way of every row of the result: where it lies in one branch of an OR or
 *   a UNION, the other branches count as false or empty, so that they add no row that has nothing to do with it.
 */
export function rewrite(
  select: Tree,
  occurrences: readonly Occurrence[],
  stands: readonly Stand[],
  focus?: number,
): string {
  const tree = cloneTree(select);
  occurrences.forEach((occurrence, i) => {
    if (stands[i] !== 'now') replaceRange(at(tree, occurrence.path), occurrence.name, stands[i]!);
  });
  if (occurrences.some((occurrence) => occurrence.schema !== undefined)) dropSchemas(tree, occurrences);
  if (focus !== undefined) keepOnly(tree, occurrences[focus]!.path);
  return deparseSelect(tree);
}

function replaceRange(range: Tree, name: string, stand: string): void {
  range.alias ??= { aliasname: name };
  range.relname = stand;
  delete range.schemaname;
  delete range.catalogname;
}

/** `public.todo.title` must name the alias `todo` once the table is no longer read under its schema. */
function dropSchemas(tree: Tree, occurrences: readonly Occurrence[]): void {
  const schemas = new Set(occurrences.map((occurrence) => occurrence.schema));
  for (const { type, node } of visits({ SelectStmt: tree })) {
    if (type === 'RangeVar' && node.schemaname) node.alias ??= { aliasname: node.relname };
    if (type !== 'ColumnRef') continue;
    const fields = node.fields as { String?: { sval: string } }[];
    if (fields.length >= 3 && schemas.has(fields[0]!.String?.sval)) node.fields = fields.slice(1);
  }
}

/** Innermost first, so that the path stays true for what is still to do. */
function keepOnly(tree: Tree, path: Path): void {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const node = at(tree, path.slice(0, depth));
    const step = path[depth]!;
    if (node.boolop === 'OR_EXPR' && step === 'args') {
      // In place of the OR, not "false OR …": Postgres makes joins of subqueries before it folds constants.
      const wrapper = at(tree, path.slice(0, depth - 1));
      delete wrapper.BoolExpr;
      Object.assign(wrapper, (node.args as Tree[])[path[depth + 1] as number]);
    }
    if (node.op === 'SETOP_UNION' && (step === 'larg' || step === 'rarg')) {
      makeEmpty(node[step === 'larg' ? 'rarg' : 'larg'] as Tree);
    }
  }
  for (const { type, node } of visits({ SelectStmt: tree })) {
    if (type === 'BoolExpr' && node.boolop === 'AND_EXPR') node.args = flatAnd(node.args as Tree[]);
  }
}

/** The parser reads `(a AND b) AND c` as one AND of three. */
function flatAnd(args: readonly Tree[]): Tree[] {
  return args.flatMap((arg) => {
    const inner = arg.BoolExpr as Tree | undefined;
    return inner?.boolop === 'AND_EXPR' ? flatAnd(inner.args as Tree[]) : [arg];
  });
}

function makeEmpty(select: Tree): void {
  if (select.op === 'SETOP_NONE') {
    select.whereClause = { A_Const: { boolval: {} } };
  } else {
    makeEmpty(select.larg as Tree);
    makeEmpty(select.rarg as Tree);
  }
}
