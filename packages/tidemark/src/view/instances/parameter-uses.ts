/**
 * Finds what a query does with each parameter: which columns of its result depend on it, and which conditions restrict
 * the rows by it.
 */
import type { Facts } from '../analysis/facts.js';
import { type Field, isNode, nodeList, numberOf, type QueryNode, queryNodes } from '../analysis/query-tree.js';

/** The numbers of parameters, from 1. */
type Numbers = ReadonlySet<number>;

/** The uses of parameters in a query. */
export interface ParameterUses {
  /** For each column of the result, the parameters on which its values depend, other than by the query's conditions. */
  readonly columns: ReadonlyMap<string, ColumnUses>;
  readonly conditions: ConditionUses;
}

/** The parameters on which the values of a column depend. */
export interface ColumnUses {
  readonly direct: Numbers;
  /** Parameters in a subquery of the column, which may only repeat a condition of the query there. */
  readonly inSubqueries: Numbers;
}

/** The parameters in a query's conditions. */
export interface ConditionUses {
  readonly all: Numbers;
  /** Parameters that an expression over a row equals, or lists and ranges that contain it. */
  readonly equal: Numbers;
  /** Lower bounds of an expression over a row. */
  readonly lower: Numbers;
  /** Upper bounds of an expression over a row. */
  readonly upper: Numbers;
}

export function parameterUses(query: QueryNode, facts: Facts): ParameterUses {
  const columns = new Map<string, ColumnUses>();
  for (const target of nodeList(query, 'targetList')) {
    if (target.fields.resjunk === 'true') continue;
    const uses = new TargetUses();
    uses.addTarget(query, numberOf(target, 'resno')!);
    columns.set(target.fields.resname as string, uses);
  }
  return { columns, conditions: conditionUses(query, facts) };
}

/** PARAM_EXTERN (primnodes.h), as opposed to parameters that Postgres passes to subqueries. */
const external = '0';

function parameterIn({ tag, fields }: QueryNode): number | undefined {
  return tag === 'PARAM' && fields.paramkind === external ? Number(fields.paramid) : undefined;
}

/** Collects the parameters of an expression, through the subqueries that its variables refer to. */
class TargetUses implements ColumnUses {
  readonly direct = new Set<number>();
  readonly inSubqueries = new Set<number>();
  /** The columns that have been added. A recursive WITH query refers to itself. */
  readonly #seen = new Map([this.direct, this.inSubqueries].map((uses) => [uses, new Set<QueryNode>()]));

  /**
   * Adds a column of a query's result. A set operation has the columns of its arms.
   * @param outer the queries that contain it, innermost first
   */
  addTarget(query: QueryNode, column: number, outer: readonly QueryNode[] = [], uses: Set<number> = this.direct): void {
    if (isNode(query.fields.setOperations)) {
      for (const { fields } of nodeList(query, 'rtable')) {
        if (isNode(fields.subquery)) this.addTarget(fields.subquery, column, [query, ...outer], uses);
      }
      return;
    }
    const seen = this.#seen.get(uses)!;
    const targets = nodeList(query, 'targetList').filter((target) => numberOf(target, 'resno') === column);
    for (const target of targets) {
      if (seen.has(target)) continue;
      seen.add(target);
      this.#add(target, [query, ...outer], uses);
    }
  }

  #add(field: Field | undefined, queries: readonly QueryNode[], uses: Set<number>): void {
    if (Array.isArray(field)) for (const child of field) this.#add(child, queries, uses);
    if (!isNode(field)) return;
    const number = parameterIn(field);
    if (number !== undefined) uses.add(number);
    if (field.tag === 'VAR') this.#addVariable(field, queries, uses);
    const isSubquery = field.tag === 'QUERY';
    for (const [name, child] of Object.entries(field.fields)) {
      // A join lists all columns of what it joins, referenced or not.
      if (name === 'joinaliasvars') continue;
      this.#add(child, isSubquery ? [field, ...queries] : queries, isSubquery ? this.inSubqueries : uses);
    }
  }

  #addVariable(variable: QueryNode, queries: readonly QueryNode[], uses: Set<number>): void {
    const around = queries.slice(numberOf(variable, 'varlevelsup'));
    const column = numberOf(variable, 'varattno')!;
    const entry = nodeList(around[0]!, 'rtable')[numberOf(variable, 'varno')! - 1]!;
    const { subquery, ctename } = entry.fields;
    const merged = [...nodeList(entry, 'joinaliasvars'), ...nodeList(entry, 'groupexprs')][column - 1];
    if (merged) this.#add(merged, around, uses);
    if (isNode(subquery)) this.addTarget(subquery, column, around, uses);
    if (typeof ctename === 'string') {
      const queriesOfCTE = around.slice(numberOf(entry, 'ctelevelsup'));
      const cte = nodeList(queriesOfCTE[0]!, 'cteList').find(({ fields }) => fields.ctename === ctename);
      if (isNode(cte?.fields.ctequery)) this.addTarget(cte.fields.ctequery, column, queriesOfCTE, uses);
    }
  }
}

function conditionUses(query: QueryNode, { routines }: Facts): ConditionUses {
  const uses = { all: new Set<number>(), equal: new Set<number>(), lower: new Set<number>(), upper: new Set<number>() };
  for (const node of conditionNodes(query)) {
    const number = parameterIn(node);
    if (number !== undefined) uses.all.add(number);
    const operator = routines.get(numberOf(node, 'opfuncid') ?? 0)?.operator ?? '';
    const [left, right] = nodeList(node, 'args');
    if (!Object.hasOwn(comparisons, operator) || !left || !right) continue;
    const [kindOfLeft, kindOfRight] = comparisons[operator as keyof typeof comparisons];
    if (kindOfLeft) for (const one of comparedWith(left, right)) uses[kindOfLeft].add(one);
    if (kindOfRight) for (const one of comparedWith(right, left)) uses[kindOfRight].add(one);
  }
  return uses;
}

/**
 * The operators that compare values, with what a parameter on their left and on their right is. `IS NOT DISTINCT FROM`
 * is a negated `=`. A range that contains a value restricts it as a list does.
 */
const comparisons = {
  '=': ['equal', 'equal'],
  '<': ['lower', 'upper'],
  '<=': ['lower', 'upper'],
  '>': ['upper', 'lower'],
  '>=': ['upper', 'lower'],
  '@>': ['equal', undefined],
  '<@': [undefined, 'equal'],
} as const;

/** The parameters in a side of a comparison that depends on parameters alone, while the other depends on a row. */
function comparedWith(side: QueryNode, other: QueryNode): number[] {
  const nodes = [...queryNodes(side)];
  const isOfRow = (node: QueryNode) => node.tag === 'VAR';
  if (nodes.some(isOfRow) || ![...queryNodes(other)].some(isOfRow)) return [];
  return nodes.map(parameterIn).filter((number) => number !== undefined);
}

/** Yields the nodes of a query at any depth, except those of its results. */
function* conditionNodes(field: Field | undefined): Generator<QueryNode> {
  if (Array.isArray(field)) for (const child of field) yield* conditionNodes(child);
  if (!isNode(field)) return;
  yield field;
  for (const [name, child] of Object.entries(field.fields)) {
    if (!['targetList', 'joinaliasvars', 'groupexprs'].includes(name)) yield* conditionNodes(child);
  }
}
