/**
 * Flattens a query into joins of its tables. If a row of the result differs between two states of the tables, one of
 * the joins has a combination of rows in only one of them. The result's row consists of this combination, or depends on
 * it, as on the rows that a subquery counts. Pure.
 *
 * Conditions that columns of tables cannot express are left out, so a join may also have irrelevant combinations.
 */
import type { Operation } from '../../analysis/meaning.js';
import { conjunctsIn, isNode, namesOf, nodeList, numberOf, type QueryNode } from '../../analysis/query-tree.js';
import { tableOf } from '../../determinism/qualify.js';
import { conjuncts, disjuncts } from '../../parse/conditions.js';
import { selectIn, type Tree } from '../../parse/tree.js';
import { comparison, equals, hasSubquery, isMonotone, refTo, translated } from './conditions.js';
import {
  type Column,
  dependency,
  emptyJoin,
  type Flat,
  type FlatJoin,
  type Join,
  product,
  withCondition,
} from './joins.js';
import { comparisonsOf, noTest, type Test, testsOf } from './membership.js';
import { isNeverEmpty, outputsOf } from './outputs.js';
import { comparedEntries, requiredEntries } from './required.js';
import { columnOf, columnOfTarget, entriesIn, type Level, leavesOutRows, type QueryContext } from './resolve.js';
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

/** One SELECT without set operations. */
interface Block {
  readonly query: QueryNode;
  readonly outer: readonly Level[];
  /** The entries of its range table in which the conditions require a row. */
  readonly required: ReadonlySet<number>;
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
    const block = { query, outer, required: requiredEntries(select, query, meaning) };
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
    if (range) return joins.flatMap((one) => product(one, this.#table(range, node, block.query)));
    if (sub) return bounded(joins.flatMap((one) => this.#derived(selectIn(sub.subquery), node, one, block)));
    if (join) return this.#join(join, node, joins, block);
    if (RangeFunction) {
      return joins.flatMap((one) => [one, ...this.#dependencies(subqueriesIn(RangeFunction), one, block)]);
    }
    throw new NotFlat();
  }

  #table(range: Tree, node: QueryNode, query: QueryNode): Join {
    const { occurrences, namedTables } = this.#context;
    const occurrence = occurrences.get(range);
    if (occurrence === undefined) throw new NotFlat();
    const { primaryKey } = tableOf(range, namedTables);
    const alias = `t${occurrence + 1}`;
    const number = numberOf(node, 'rtindex')!;
    const names = namesOf(nodeList(query, 'rtable')[number - 1]!).columns as string[];
    const columns = names.map((name, i) => ({
      alias,
      name,
      isNotNull: primaryKey.some(({ attnum }) => attnum === i + 1),
    }));
    const aliased = { ...range, alias: { ...(range.alias as Tree | undefined), aliasname: alias } };
    return {
      ...emptyJoin,
      tables: [{ range: aliased, alias, occurrence, isFocus: true }],
      columns: new Map([[number, columns]]),
    };
  }

  #derived(select: Tree, node: QueryNode, join: Join, block: Block): Join[] {
    const flat = this.select(select, [levelOf(block, join), ...block.outer]);
    if (flat.isNeverEmpty) return [join, ...this.#dependenciesOn(flat, join)];
    const number = numberOf(node, 'rtindex')!;
    return flat.joins.flatMap((one) =>
      product(join, { ...one, columns: new Map([[number, one.outputs]]), nullable: new Map() }),
    );
  }

  #join(join: Tree, node: QueryNode, joins: Join[], block: Block): Join[] {
    const { jointype, larg, rarg } = join as { jointype: string; larg: Tree; rarg: Tree };
    const left = [larg, node.fields.larg as QueryNode] as const;
    const right = [rarg, node.fields.rarg as QueryNode] as const;
    const isRequired = (side: QueryNode) => entriesIn(side).some((number) => block.required.has(number));
    const keepsLeft = (jointype === 'JOIN_LEFT' || jointype === 'JOIN_FULL') && !isRequired(right[1]);
    const keepsRight = (jointype === 'JOIN_RIGHT' || jointype === 'JOIN_FULL') && !isRequired(left[1]);
    if (keepsLeft || keepsRight)
      return bounded([
        ...(keepsLeft ? this.#outerJoin(left, right, [join, node], joins, block) : []),
        ...(keepsRight ? this.#outerJoin(right, left, [join, node], joins, block) : []),
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
    const dependencies = this.#basesOf(join, other[1], all, block).flatMap((base) => {
      const knownColumns = new Map([...base.columns, ...base.nullable]);
      const matching = this.#on(
        join,
        node,
        this.#from(...other, [{ ...emptyJoin, columns: knownColumns }], block),
        block,
      );
      return matching.map((match) => {
        const added = [...match.columns].filter(([number]) => !knownColumns.has(number));
        return {
          ...dependency(base, match),
          columns: base.columns,
          nullable: new Map([...base.nullable, ...added, ...match.nullable]),
        };
      });
    });
    return bounded([...all, ...dependencies]);
  }

  /**
   * Returns the joins whose rows are matched with the other side of an outer join. If its condition compares columns of
   * an earlier outer join, a match needs a row there, so these are joins with such a row.
   */
  #basesOf({ quals }: Tree, other: QueryNode, joins: readonly Join[], { query }: Block): readonly Join[] {
    const rows = joins.filter(({ isDependency }) => !isDependency);
    const ownEntries = new Set([...entriesIn(other), ...rows.flatMap(({ columns }) => [...columns.keys()])]);
    const needed = comparedEntries(quals, query, this.#context.meaning).filter((number) => !ownEntries.has(number));
    if (needed.length === 0) return rows;
    const fitting = joins.filter(({ nullable }) => needed.every((number) => nullable.has(number)));
    const minNullable = Math.min(...fitting.map(({ nullable }) => nullable.size));
    return fitting.length === 0 ? rows : fitting.filter(({ nullable }) => nullable.size === minNullable);
  }

  /** Adds a join's condition. For USING and NATURAL, it is taken from the analyzed query. */
  #on({ quals, usingClause, isNatural }: Tree, node: QueryNode, joins: Join[], block: Block): Join[] {
    if (!usingClause && !isNatural) return this.#where(quals, joins, block);
    const equal = [node.fields.quals].filter(isNode);
    const pairs = equal.flatMap(conjunctsIn);
    return joins.map((join) => {
      const level = { query: block.query, columns: new Map([...join.columns, ...join.nullable]) };
      return pairs.reduce((all, pair) => {
        const [left, right] = nodeList(pair, 'args').map((arg) => columnOfTarget(arg, level));
        const isEqual = left && right && comparison(refTo(left), equals, refTo(right));
        return isEqual ? withCondition(all, isEqual) : all;
      }, join);
    });
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
    const joinCondition = translated(condition, (node) => this.#column(node, join, block));
    return joinCondition ? withCondition(join, joinCondition) : join;
  }

  /** Handles EXISTS, IN and ANY: joins the rows of the subquery. */
  #member(link: Tree, join: Join, block: Block): Join[] {
    const flat = this.select(selectIn(link.subselect), [levelOf(block, join), ...block.outer]);
    if (flat.isNeverEmpty) return [join, ...this.#dependenciesOn(flat, join)];
    const columnIn = (node: Tree) => this.#column(node, join, block);
    return flat.joins.flatMap((one) =>
      product(join, { ...one, columns: new Map(), nullable: new Map() }).map((both) =>
        comparisonsOf(link, one.outputs, columnIn).reduce(withCondition, both),
      ),
    );
  }

  /** Returns joins with the rows of the subqueries on which the rows of a join depend. */
  #dependencies(subqueries: readonly Subquery[], join: Join, block: Block): Join[] {
    if (join.isDependency) return [];
    return subqueries.flatMap((subquery) => {
      const { select, wrappers } = subquery;
      const level = levelOf(block, join);
      const wrapped = Array.from({ length: wrappers }, () => ({ query: block.query, columns: new Map() }));
      const flat = this.select(select, [...wrapped, level, ...block.outer]);
      return this.#dependenciesOn(flat, join, ({ outputs }) =>
        testsOf(subquery.link, outputs, (node) => this.#column(node, join, block)),
      );
    });
  }

  /** @param tests returns the alternative conditions for rows that matter */
  #dependenciesOn(flat: Flat, join: Join, tests: (one: FlatJoin) => readonly Test[] = () => [noTest]): Join[] {
    if (join.isDependency) return [];
    return flat.joins.flatMap((one) =>
      tests(one).map(({ conditions, isRare }) => ({
        ...conditions.reduce(withCondition, dependency(join, one)),
        columns: join.columns,
        nullable: join.nullable,
        isRare: one.isRare || isRare,
      })),
    );
  }

  #column(node: Tree, join: Join, block: Block): Column | undefined {
    return columnOf(node, this.#context.meaning, [levelOf(block, join), ...block.outer]);
  }
}

function levelOf({ query }: Block, { columns }: Join): Level {
  return { query, columns };
}

function bounded<T>(joins: T[]): T[] {
  if (joins.length > maxJoins) throw new NotFlat();
  return joins;
}
