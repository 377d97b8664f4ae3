/**
 * What is written twice in a SELECT, as in `select sum(x) … order by sum(x)`: of an expression that a query sorts or
 * groups by and has elsewhere, too, Postgres keeps one and forgets where the others stood.
 */
import { shape } from '../parse/syntax.js';
import { names, type Tree, type Visit, visits, visitsHere } from '../parse/tree.js';

/** What Postgres says the meaning of. */
const meaningful = new Set(['A_Const', 'A_Expr', 'ColumnRef', 'FuncCall', 'SubLink', 'TypeCast']);

/**
 * The nodes of a query that Postgres has forgotten, outermost first, each with the one that means the same.
 * @param isKnown whether Postgres says what a node means
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

/** FROM is left out: what it names can be something else. */
function askedIn({ fromClause: _, ...level }: Tree): Visit[] {
  const results = new Set(resultNamesIn(level));
  return [...visitsHere(level)].filter(({ type, node }) => meaningful.has(type) && !results.has(node));
}

/** In ORDER BY and DISTINCT ON, a name alone means a column of the result before anything that is read. */
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

/** Two nodes that are alike, and what is below them. */
function* pairs(one: Tree, other: Tree): Generator<[Tree, Tree]> {
  yield [one, other];
  const others = [...visits(other)];
  for (const [i, { node }] of [...visits(one)].entries()) yield [node, others[i]!.node];
}

function shapeOf({ type, node }: Visit): string {
  return shape({ [type]: node });
}
