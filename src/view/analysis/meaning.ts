/** Connects the parse tree of a query with the tree that Postgres has analyzed. */
import { SetupError } from '../../errors.js';
import { selectIn, type Tree, type Visit, visits, visitsHere } from '../parse/tree.js';
import { commonSubexpressions } from './common-subexpressions.js';
import { isNode, nodeList, numberOf, parseQueryTree, type QueryNode, queryNodes } from './query-tree.js';

/** The meaning of a query, as Postgres has analyzed it. */
export interface Meaning {
  /** The whole analyzed tree. */
  readonly query: QueryNode;
  /** Returns the analyzed query of a SelectStmt at any depth; undefined for a set operation within another one. */
  queryOf(select: Tree): QueryNode | undefined;
  /** Returns the analyzed set operation of a SelectStmt at any depth; undefined for any other SELECT. */
  operationOf(select: Tree): Operation | undefined;
  /**
   * Returns the analyzed nodes of a node of the parse tree. They have the same location in the text. If there are none,
   * those of a common subexpression.
   */
  nodesOf(node: Tree): readonly QueryNode[];
}

/** An analyzed set operation. */
export interface Operation {
  readonly node: QueryNode;
  /** The queries that it combines, including those of arms that are set operations themselves. */
  readonly arms: readonly QueryNode[];
}

/**
 * Matches a parse tree with its analyzed tree.
 * @param offset the number of bytes that preceded the query when Postgres analyzed it
 * @throws SetupError if a subquery is not in the analyzed tree
 */
export function understand(
  select: Tree,
  { tree, offset }: { readonly tree: string; readonly offset: number },
): Meaning {
  const query = parseQueryTree(tree);
  const nodesByLocation = new Map<number, QueryNode[]>();
  for (const node of queryNodes(query)) {
    const location = (numberOf(node, 'location') ?? -1) - offset;
    const nodes = nodesByLocation.get(location);
    if (nodes) nodes.push(node);
    else nodesByLocation.set(location, [node]);
  }
  const nodesOf = (node: Tree) => nodesByLocation.get(locationOf(node)) ?? [];
  for (const [duplicate, representative] of commonSubexpressions(select, (node) => nodesOf(node).length > 0)) {
    nodesByLocation.set(locationOf(duplicate), nodesOf(representative));
  }
  const pairs: Pairs = { queries: new Map(), operations: new Map() };
  pair(select, query, pairs, nodesOf);
  const { queries, operations } = pairs;
  for (const { type, node } of visits({ SelectStmt: select })) {
    if (type === 'SelectStmt' && !queries.has(node) && !operations.has(node)) throw unclearSubquery();
  }
  return { query, queryOf: (one) => queries.get(one), operationOf: (one) => operations.get(one), nodesOf };
}

function unclearSubquery(): SetupError {
  return new SetupError(
    'it has a subquery in a place where Tidemark cannot tell how Postgres interprets it. Move the subquery into FROM or WITH',
  );
}

function locationOf(node: Tree): number {
  return (node.location as number | undefined) ?? 0;
}

/** Checks whether a node calls an aggregate, which receives all rows of a group. */
export function isAggregate({ nodesOf }: Meaning, { type, node }: Visit): boolean {
  // Aggregates with their own syntax have no location.
  return (
    /^Json(Array|Object)Agg$/.test(type) || (type === 'FuncCall' && nodesOf(node).some(({ tag }) => tag === 'AGGREF'))
  );
}

interface Pairs {
  readonly queries: Map<Tree, QueryNode>;
  readonly operations: Map<Tree, Operation>;
}
type NodesOf = (node: Tree) => readonly QueryNode[];

function pair(select: Tree, query: QueryNode, pairs: Pairs, nodesOf: NodesOf): void {
  pairs.queries.set(select, query);
  const sub = (child: Tree, analyzed: QueryNode | undefined) => {
    if (analyzed) pair(child, analyzed, pairs, nodesOf);
  };
  const ctes = ((select.withClause as Tree | undefined)?.ctes ?? []) as { CommonTableExpr: Tree }[];
  for (const { CommonTableExpr: cte } of ctes) {
    const analyzed = nodeList(query, 'cteList').find(({ fields }) => fields.ctename === cte.ctename);
    sub(selectIn(cte.ctequery), nodeIn(analyzed, 'ctequery'));
  }
  const operation = nodeIn(query, 'setOperations');
  if (operation) pairArms(select, operation, query, sub, pairs);
  const items = fromList(query);
  ((select.fromClause ?? []) as Tree[]).forEach((item, i) => void pairFrom(item, items[i], query, sub));
  for (const { type, node } of visitsHere(select)) {
    // With NOT IN, another node has the same location.
    const analyzed = nodeIn(
      nodesOf(node).find(({ tag }) => tag === 'SUBLINK'),
      'subselect',
    );
    if (type === 'SubLink') sub(selectIn(node.subselect), analyzed);
    // The comparison of a row with a subquery's row has the operator's location.
    const { SubLink: compared } = (node.rexpr ?? {}) as { SubLink?: Tree };
    if (compared) sub(selectIn(compared.subselect), analyzed);
    // Postgres has wrapped the subquery in another one with an aggregate.
    if (type === 'JsonArrayQueryConstructor' && analyzed) {
      sub(selectIn(node.query), subqueryOf(fromList(analyzed)[0]!, analyzed));
    }
  }
}

function fromList(query: QueryNode): QueryNode[] {
  const joined = nodeIn(query, 'jointree');
  return joined ? nodeList(joined, 'fromlist') : [];
}

type Sub = (child: Tree, analyzed: QueryNode | undefined) => void;

/**
 * Pairs the arms of a set operation. Postgres analyzes an arm as a subquery, unless it is a set operation itself.
 * @returns the subqueries
 */
function pairArms(select: Tree, operation: QueryNode, query: QueryNode, sub: Sub, pairs: Pairs): QueryNode[] {
  const arms = ['larg', 'rarg'].flatMap((side) => {
    const arm = select[side] as Tree;
    const analyzed = nodeIn(operation, side)!;
    if (analyzed.tag !== 'RANGETBLREF') return pairArms(arm, analyzed, query, sub, pairs);
    const subquery = subqueryOf(analyzed, query)!;
    sub(arm, subquery);
    return [subquery];
  });
  pairs.operations.set(select, { node: operation, arms });
  return arms;
}

function pairFrom(item: Tree, analyzed: QueryNode | undefined, query: QueryNode, sub: Sub): void {
  const { JoinExpr, RangeSubselect } = item as Record<string, Tree | undefined>;
  if (JoinExpr) {
    pairFrom(JoinExpr.larg as Tree, nodeIn(analyzed, 'larg'), query, sub);
    pairFrom(JoinExpr.rarg as Tree, nodeIn(analyzed, 'rarg'), query, sub);
  } else if (RangeSubselect && analyzed) {
    sub(selectIn(RangeSubselect.subquery), subqueryOf(analyzed, query));
  }
}

/** Returns the subquery that a RangeTblRef refers to. */
function subqueryOf(reference: QueryNode, query: QueryNode): QueryNode | undefined {
  return nodeIn(nodeList(query, 'rtable')[(numberOf(reference, 'rtindex') ?? 0) - 1], 'subquery');
}

function nodeIn(node: QueryNode | undefined, field: string): QueryNode | undefined {
  const found = node?.fields[field];
  return isNode(found) ? found : undefined;
}
