/**
 * Finds common subexpressions of a SELECT, as in `select sum(x) … order by sum(x)`. If a query sorts or groups by an
 * expression that it also has elsewhere, Postgres keeps one of them, and the locations of the others are lost.
 */
import { canonicalJson } from '../parse/syntax.js';
import { names, type Tree, type Visit, visits, visitsHere } from '../parse/tree.js';

/** The types of node whose meaning Postgres reports. */
const meaningful = new Set(['A_Const', 'A_Expr', 'ColumnRef', 'FuncCall', 'SubLink', 'TypeCast']);

/**
 * Yields the nodes whose locations Postgres has dropped, outermost first, each with the node that represents it.
 * @param isKnown whether Postgres reports what a node means
 */
export function* commonSubexpressions(
  select: Tree,
  isKnown: (node: Tree) => boolean,
): Generator<[forgotten: Tree, kept: Tree]> {
  for (const { type, node: level } of visits({ SelectStmt: select })) {
    if (type !== 'SelectStmt') continue;
    const candidates = candidatesIn(level);
    const representatives = new Map(
      candidates.filter(({ node }) => isKnown(node)).map((visit) => [textOf(visit), visit]),
    );
    for (const visit of candidates) {
      const representative = isKnown(visit.node) ? undefined : representatives.get(textOf(visit));
      if (representative) yield* pairs(visit.node, representative.node);
    }
  }
}

/** Returns the candidates of one level. FROM is left out, because its names can refer to something else. */
function candidatesIn({ fromClause: _, ...level }: Tree): Visit[] {
  const results = new Set(resultNamesIn(level));
  return [...visitsHere(level)].filter(({ type, node }) => meaningful.has(type) && !results.has(node));
}

/**
 * Finds names of result columns. A bare name in ORDER BY or DISTINCT ON refers to a column of the result if there is
 * one, and otherwise to an input column.
 */
function resultNamesIn({ targetList, sortClause, distinctClause }: Tree): Tree[] {
  const results = ((targetList ?? []) as { ResTarget: Tree }[]).map(({ ResTarget }) => ResTarget.name);
  const sorted = ((sortClause ?? []) as { SortBy: { node: Tree } }[]).map(({ SortBy }) => SortBy.node);
  const columns = [...sorted, ...((distinctClause ?? []) as Tree[])].map(
    ({ ColumnRef }) => ColumnRef as Tree | undefined,
  );
  return columns.filter((column) => {
    const parts = names(column?.fields);
    return parts.length === 1 && results.includes(parts[0]);
  }) as Tree[];
}

/** Yields two nodes that are written the same way, and each pair of nodes below them. */
function* pairs(one: Tree, other: Tree): Generator<[Tree, Tree]> {
  yield [one, other];
  const others = [...visits(other)];
  for (const [i, { node }] of [...visits(one)].entries()) yield [node, others[i]!.node];
}

function textOf({ type, node }: Visit): string {
  return canonicalJson({ [type]: node });
}
