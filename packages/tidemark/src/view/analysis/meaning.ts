/** Connects the parse tree of a query with the tree that Postgres has analyzed. */
import { SetupError } from '../../errors.js';
import { selectIn, type Tree, type Visit, visits, visitsHere } from '../parse/tree.js';
import { commonSubexpressions } from './common-subexpressions.js';
import { isNode, nodeList, numberOf, parseQueryTree, type QueryNode, queryNodes } from './query-tree.js';

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
  return new Meaning(select, parseQueryTree(tree), offset);
}

/** The meaning of a query, as Postgres has analyzed it. */
export class Meaning {
  /** The whole analyzed tree. */
  readonly query: QueryNode;
  readonly #queries = new Map<Tree, QueryNode>();
  readonly #operations = new Map<Tree, Operation>();
  readonly #nodesByLocation = new Map<number, QueryNode[]>();

  constructor(select: Tree, query: QueryNode, offset: number) {
    this.query = query;
    for (const node of queryNodes(query)) {
      const location = (numberOf(node, 'location') ?? -1) - offset;
      const nodes = this.#nodesByLocation.get(location);
      if (nodes) nodes.push(node);
      else this.#nodesByLocation.set(location, [node]);
    }
    const isKnown = (node: Tree) => this.nodesOf(node).length > 0;
    for (const [duplicate, representative] of commonSubexpressions(select, isKnown)) {
      this.#nodesByLocation.set(locationOf(duplicate), [...this.nodesOf(representative)]);
    }
    this.#pair(select, query);
    for (const { type, node } of visits({ SelectStmt: select })) {
      if (type === 'SelectStmt' && !this.queryOf(node) && !this.operationOf(node)) throw unclearSubquery();
    }
  }

  /** Returns the analyzed query of a SelectStmt at any depth; undefined for a set operation within another one. */
  queryOf(select: Tree): QueryNode | undefined {
    return this.#queries.get(select);
  }

  /** Returns the analyzed set operation of a SelectStmt at any depth; undefined for any other SELECT. */
  operationOf(select: Tree): Operation | undefined {
    return this.#operations.get(select);
  }

  /**
   * Returns the analyzed nodes of a node of the parse tree. They have the same location in the text. If there are none,
   * those of a common subexpression.
   */
  nodesOf(node: Tree): readonly QueryNode[] {
    return this.#nodesByLocation.get(locationOf(node)) ?? [];
  }

  #pair(select: Tree, query: QueryNode | undefined): void {
    if (!query) return;
    this.#queries.set(select, query);
    const ctes = ((select.withClause as Tree | undefined)?.ctes ?? []) as { CommonTableExpr: Tree }[];
    for (const { CommonTableExpr: cte } of ctes) {
      const analyzed = nodeList(query, 'cteList').find(({ fields }) => fields.ctename === cte.ctename);
      this.#pair(selectIn(cte.ctequery), nodeIn(analyzed, 'ctequery'));
    }
    const operation = nodeIn(query, 'setOperations');
    if (operation) this.#pairArms(select, operation, query);
    const items = fromList(query);
    ((select.fromClause ?? []) as Tree[]).forEach((item, i) => void this.#pairFrom(item, items[i], query));
    for (const { type, node } of visitsHere(select)) {
      // With NOT IN, another node has the same location.
      const analyzed = nodeIn(
        this.nodesOf(node).find(({ tag }) => tag === 'SUBLINK'),
        'subselect',
      );
      if (type === 'SubLink') this.#pair(selectIn(node.subselect), analyzed);
      // The comparison of a row with a subquery's row has the operator's location.
      const { SubLink: compared } = (node.rexpr ?? {}) as { SubLink?: Tree };
      if (compared) this.#pair(selectIn(compared.subselect), analyzed);
      // Postgres has wrapped the subquery in another one with an aggregate.
      if (type === 'JsonArrayQueryConstructor' && analyzed) {
        this.#pair(selectIn(node.query), subqueryOf(fromList(analyzed)[0]!, analyzed));
      }
    }
  }

  /**
   * Pairs the arms of a set operation. Postgres analyzes an arm as a subquery, unless it is a set operation itself.
   * @returns the subqueries
   */
  #pairArms(select: Tree, operation: QueryNode, query: QueryNode): QueryNode[] {
    const arms = ['larg', 'rarg'].flatMap((side) => {
      const arm = select[side] as Tree;
      const analyzed = nodeIn(operation, side)!;
      if (analyzed.tag !== 'RANGETBLREF') return this.#pairArms(arm, analyzed, query);
      const subquery = subqueryOf(analyzed, query)!;
      this.#pair(arm, subquery);
      return [subquery];
    });
    this.#operations.set(select, { node: operation, arms });
    return arms;
  }

  #pairFrom(item: Tree, analyzed: QueryNode | undefined, query: QueryNode): void {
    const { JoinExpr, RangeSubselect } = item as Record<string, Tree | undefined>;
    if (JoinExpr) {
      this.#pairFrom(JoinExpr.larg as Tree, nodeIn(analyzed, 'larg'), query);
      this.#pairFrom(JoinExpr.rarg as Tree, nodeIn(analyzed, 'rarg'), query);
    } else if (RangeSubselect && analyzed) {
      this.#pair(selectIn(RangeSubselect.subquery), subqueryOf(analyzed, query));
    }
  }
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
export function isAggregate(meaning: Meaning, { type, node }: Visit): boolean {
  // Aggregates with their own syntax have no location.
  return (
    /^Json(Array|Object)Agg$/.test(type) ||
    (type === 'FuncCall' && meaning.nodesOf(node).some(({ tag }) => tag === 'AGGREF'))
  );
}

function fromList(query: QueryNode): QueryNode[] {
  const joined = nodeIn(query, 'jointree');
  return joined ? nodeList(joined, 'fromlist') : [];
}

/** Returns the subquery that a RangeTblRef refers to. */
function subqueryOf(reference: QueryNode, query: QueryNode): QueryNode | undefined {
  return nodeIn(nodeList(query, 'rtable')[(numberOf(reference, 'rtindex') ?? 0) - 1], 'subquery');
}

function nodeIn(node: QueryNode | undefined, field: string): QueryNode | undefined {
  const found = node?.fields[field];
  return isNode(found) ? found : undefined;
}
