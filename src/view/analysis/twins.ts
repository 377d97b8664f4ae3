/**
 * Finds what is written twice in a SELECT, as in `select sum(x) … order by sum(x)`. If a query sorts or groups by an
 * expression that it also has elsewhere, Postgres keeps one of them and forgets the places of the others.
 */
import { shape } from '../parse/syntax.js';
import { names, type Tree, type Visit, visits, visitsHere } from '../parse/tree.js';

/** The types of node whose meaning Postgres reports. */
const meaningful = new Set(['A_Const', 'A_Expr', 'ColumnRef', 'FuncCall', 'SubLink', 'TypeCast']);

/**
 * The nodes of a query that Postgres has forgotten, outermost first, each with the one that means the same.
 * @param isKnown whether Postgres reports what a node means
 */
export function* twinsIn(select: Tree, isKnown: (node: Tree) => boolean): Generator<[forgotten: Tree, kept: Tree]> {
  for (const { type, node: level } of visits({ SelectStmt: select })) {
    if (type !== 'SelectStmt') continue;
    const asked = askedIn(level);
    const known = new Map(asked.filter(({ node }) => isKnown(node)).map((visit) => [shapeOf(visit), visit]));
    for (const visit of asked) {
      const kept = isKnown(visit.node) ? undefined : known.get(shapeOf(visit));
      if (kept) yield* pairs(visit.node, kept.node);
    }
  }
}

/** FROM is left out: its names can refer to something else. */
function askedIn({ fromClause: _, ...level }: Tree): Visit[] {
  const results = new Set(resultNamesIn(level));
  return [...visitsHere(level)].filter(({ type, node }) => meaningful.has(type) && !results.has(node));
}

/**
 * In ORDER BY and DISTINCT ON, a bare name refers to a column of the result if there is one, and otherwise to a column
 * that is read.
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

/** Two nodes of the same form, and each pair of nodes below them. */
function* pairs(one: Tree, other: Tree): Generator<[Tree, Tree]> {
  yield [one, other];
  const others = [...visits(other)];
  for (const [i, { node }] of [...visits(one)].entries()) yield [node, others[i]!.node];
}

function shapeOf({ type, node }: Visit): string {
  return shape({ [type]: node });
}
