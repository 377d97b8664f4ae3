/**
 * Flattens a query into joins of its tables. If a row of the result differs between two states of the tables, one of
 * the joins has a combination of rows in only one of them. The result's row consists of this combination, or depends on
 * it, as on the rows that a subquery counts. Pure.
 *
 * Conditions that columns of tables cannot express are left out, so a join may also have irrelevant combinations.
 */
import type { Operation } from '../../analysis/meaning.js';
import { isNode, nodeList, numberOf, type QueryNode } from '../../analysis/query-tree.js';
import { conjuncts, disjuncts } from '../../parse/conditions.js';
import { selectIn, type Tree } from '../../parse/tree.js';
import { hasSubquery, isMonotone, translated } from './conditions.js';
import { basesOf, dependencyOnMatch, matchableColumns, preservedSides, withEqualColumns } from './join-clauses.js';
import { joinOfTable } from './joined-table.js';
import { emptyJoin, type Flat, type Join, product, withCondition } from './joins.js';
import { comparisonsOf, dependenciesOn, testsOf } from './membership.js';
import { isNeverEmpty, outputsOf } from './outputs.js';
import { requiredEntries } from './required.js';
import { type Block, columnIn, type Level, leavesOutRows, levelsOf, type QueryContext } from './resolve.js';
import { armsOf, keepsType } from './set-operations.js';
import { type Subquery, subqueriesIn, subqueriesOf } from './subqueries.js';

class NotFlat extends Error {}

/** The maximum number of joins for a query, and of an OR's alternatives that become joins of their own. */
const maxJoins = 64;
const maxAlternatives = 4;

/** @returns undefined if the query cannot be flattened, or would have too many joins */
export function flatten(select: Tree, context: QueryContext): Flat | undefined {
  try {
    return new Flattening(context).select(select, []);
  } catch (error) {
    if (error instanceof NotFlat) return undefined;
    throw error;
  }
}

class Flattening {
  readonly #context: QueryContext;

  constructor(context: QueryContext) {
    this.#context = context;
  }

  select(select: Tree, outer: readonly Level[]): Flat {
    const { meaning } = this.#context;
    if (select.withClause) throw new NotFlat();
    const operation = meaning.operationOf(select);
    if (operation) return this.#operation(select, operation, outer);
    const query = meaning.queryOf(select)!;
    const block = { query, meaning, outer, required: requiredEntries(select, query, meaning) };
    const { fromClause = [], whereClause, ...otherClauses } = select;
    const nodes = isNode(query.fields.jointree) ? nodeList(query.fields.jointree, 'fromlist') : [];
    let joins: Join[] = [emptyJoin];
    (fromClause as Tree[]).forEach((item, i) => {
      joins = this.#from(item, nodes[i]!, joins, block);
    });
    joins = this.#where(whereClause, joins, block);
    const { ofRows, ofGroup } = subqueriesOf(otherClauses, query, meaning);
    joins = [
      ...joins.flatMap((join) => [join, ...this.#dependencies(ofRows, join, block)]),
      ...this.#dependencies(ofGroup, emptyJoin, block),
    ];
    return {
      joins: joins.map((join) => ({
        ...join,
        outputs: leavesOutRows(select, this.#context) ? [] : outputsOf(query, join),
      })),
      isNeverEmpty: isNeverEmpty(query),
    };
  }

  #operation(select: Tree, operation: Operation, outer: readonly Level[]): Flat {
    const query = this.#context.meaning.queryOf(select)!;
    const level = { query, columns: new Map() };
    const flats = armsOf(select, this.#context.meaning).map((arm) => {
      const flat = this.select(arm, [level, ...outer]);
      const keepsColumn = (i: number) =>
        !leavesOutRows(select, this.#context) && keepsType(arm, operation, i, this.#context.meaning);
      const joins = flat.joins.map((join) => ({
        ...join,
        outputs: join.outputs.map((column, i) => (keepsColumn(i) ? column : undefined)),
      }));
      return { ...flat, joins };
    });
    return {
      joins: bounded(flats.flatMap(({ joins }) => joins)),
      isNeverEmpty: flats.some(({ isNeverEmpty }) => isNeverEmpty),
    };
  }

  #from(item: Tree, node: QueryNode, joins: Join[], block: Block): Join[] {
    const { RangeVar: range, RangeSubselect: sub, JoinExpr: join, RangeFunction } = item as Record<string, Tree>;
    if (range) {
      const table = joinOfTable(range, node, block.query, this.#context);
      if (!table) throw new NotFlat();
      return joins.flatMap((one) => product(one, table));
    }
    if (sub) return bounded(joins.flatMap((one) => this.#derived(selectIn(sub.subquery), node, one, block)));
    if (join) return this.#join(join, node, joins, block);
    if (RangeFunction) {
      return joins.flatMap((one) => [one, ...this.#dependencies(subqueriesIn(RangeFunction), one, block)]);
    }
    throw new NotFlat();
  }

  #derived(select: Tree, node: QueryNode, join: Join, block: Block): Join[] {
    const flat = this.select(select, levelsOf(block, join));
    if (flat.isNeverEmpty) return [join, ...dependenciesOn(flat, join)];
    const number = numberOf(node, 'rtindex')!;
    return flat.joins.flatMap((one) =>
      product(join, { ...one, columns: new Map([[number, one.outputs]]), nullable: new Map() }),
    );
  }

  #join(join: Tree, node: QueryNode, joins: Join[], block: Block): Join[] {
    const { larg, rarg } = join as { larg: Tree; rarg: Tree };
    const left = [larg, node.fields.larg as QueryNode] as const;
    const right = [rarg, node.fields.rarg as QueryNode] as const;
    const { preservesLeft, preservesRight } = preservedSides(join, node, block.required);
    if (preservesLeft || preservesRight)
      return bounded([
        ...(preservesLeft ? this.#outerJoin(left, right, [join, node], joins, block) : []),
        ...(preservesRight ? this.#outerJoin(right, left, [join, node], joins, block) : []),
      ]);
    const both = this.#from(...right, this.#from(...left, joins, block), block);
    return this.#on(join, node, both, block);
  }

  /** Returns the rows of the preserved side, and separate joins for what these depend on: matches on the other side. */
  #outerJoin(
    preservedSide: readonly [Tree, QueryNode],
    other: readonly [Tree, QueryNode],
    [join, node]: readonly [Tree, QueryNode],
    joins: Join[],
    block: Block,
  ): Join[] {
    const all = this.#from(...preservedSide, joins, block);
    const dependencies = basesOf(join, other[1], all, block).flatMap((base) => {
      const matching = this.#from(...other, [{ ...emptyJoin, columns: matchableColumns(base) }], block);
      return this.#on(join, node, matching, block).map((match) => dependencyOnMatch(base, match));
    });
    return bounded([...all, ...dependencies]);
  }

  /** Adds a join's condition. For USING and NATURAL, it is taken from the analyzed query. */
  #on({ quals, usingClause, isNatural }: Tree, node: QueryNode, joins: Join[], block: Block): Join[] {
    if (!usingClause && !isNatural) return this.#where(quals, joins, block);
    return joins.map((join) => withEqualColumns(join, node, block.query));
  }

  #where(condition: unknown, joins: Join[], block: Block): Join[] {
    return bounded(conjuncts(condition).reduce((all, part) => this.#condition(part, all, block), joins));
  }

  #condition(condition: Tree, joins: Join[], block: Block): Join[] {
    if (!hasSubquery(condition)) return joins.map((join) => this.#withScalar(condition, join, block));
    const link = condition.SubLink as Tree | undefined;
    if (link && isMonotone(condition)) return joins.flatMap((join) => this.#member(link, join, block));
    const alternatives = isMonotone(condition) ? disjuncts(condition) : [];
    if (alternatives.length > 0 && alternatives.length <= maxAlternatives) {
      const rows = joins.filter(({ isDependency }) => !isDependency);
      return bounded([
        ...joins.filter(({ isDependency }) => isDependency),
        ...alternatives.flatMap((alternative) => this.#where(alternative, rows, block)),
      ]);
    }
    return joins.flatMap((join) => [join, ...this.#dependencies(subqueriesIn(condition), join, block)]);
  }

  #withScalar(condition: Tree, join: Join, block: Block): Join {
    const joinCondition = translated(condition, (node) => columnIn(node, join, block));
    return joinCondition ? withCondition(join, joinCondition) : join;
  }

  /** Handles EXISTS, IN and ANY: joins the rows of the subquery. */
  #member(link: Tree, join: Join, block: Block): Join[] {
    const flat = this.select(selectIn(link.subselect), levelsOf(block, join));
    if (flat.isNeverEmpty) return [join, ...dependenciesOn(flat, join)];
    const columnOf = (node: Tree) => columnIn(node, join, block);
    return flat.joins.flatMap((one) =>
      product(join, { ...one, columns: new Map(), nullable: new Map() }).map((both) =>
        comparisonsOf(link, one.outputs, columnOf).reduce(withCondition, both),
      ),
    );
  }

  /** Returns joins with the rows of the subqueries on which the rows of a join depend. */
  #dependencies(subqueries: readonly Subquery[], join: Join, block: Block): Join[] {
    if (join.isDependency) return [];
    return subqueries.flatMap((subquery) => {
      const { select, wrappers } = subquery;
      const wrapped = Array.from({ length: wrappers }, () => ({ query: block.query, columns: new Map() }));
      const flat = this.select(select, [...wrapped, ...levelsOf(block, join)]);
      return dependenciesOn(flat, join, ({ outputs }) =>
        testsOf(subquery.link, outputs, (node) => columnIn(node, join, block)),
      );
    });
  }
}

function bounded<T>(joins: T[]): T[] {
  if (joins.length > maxJoins) throw new NotFlat();
  return joins;
}
