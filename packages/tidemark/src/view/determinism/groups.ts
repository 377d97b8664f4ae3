/**
 * A group can contain values that are equal but written differently. If the query returns one of them, the rewritten
 * query returns the first in byte order.
 */
import { SetupError } from '../../errors.js';
import { castAdvice, isExact, keyed, type PrimaryKeys } from '../analysis/exactness.js';
import { collationOf, targets, typeOf } from '../analysis/expressions.js';
import { type Facts, partsOf } from '../analysis/facts.js';
import { isAggregate, type Meaning } from '../analysis/meaning.js';
import { nodeList, numberOf, type QueryNode, queryNodes } from '../analysis/query-tree.js';
import { ascending, bytes, call, integer, put } from '../parse/nodes.js';
import { isSame } from '../parse/syntax.js';
import { isTree, names, type Tree, visits } from '../parse/tree.js';

/** @throws SetupError if the value of a group cannot be made deterministic; the message says what to write. */
export function makeGroupsDeterministic(
  select: Tree,
  query: QueryNode,
  meaning: Meaning,
  facts: Facts,
  primaryKeys: PrimaryKeys,
): void {
  const by = nodeList(query, 'groupClause');
  const grouped = by.map(({ fields }) => targetOf(query, fields.tleSortGroupRef!));
  const items = (select.groupClause ?? []) as Tree[];
  const hasSets = items.some((item) => item.GroupingSet);
  if (hasSets && grouped.some((target) => isReevaluated(target, query))) throw reevaluatedSubquery();
  // A grouping set can omit some columns of a key.
  const isKeyed = hasSets
    ? grouped.flatMap((one) => keyed([one], query, primaryKeys))
    : keyed(grouped, query, primaryKeys);
  const unclear = grouped.filter((target, i) => !isKeyed[i] && !isExact(target, facts));
  if (unclear.length === 0) return;
  const isPlain = items.length === grouped.length && !hasSets;
  if (!isPlain || !canRewrite(select) || unclear.some((target) => isArray(target, facts))) {
    throw nondeterministic(unclear[0]!);
  }
  nameTargets(select, query);
  const clauses = [select.targetList, select.havingClause, select.sortClause];
  const takers = takersOf(clauses, meaning);
  for (const target of unclear) {
    const index = grouped.indexOf(target);
    const written = target.fields.resjunk === 'true' ? items[index]! : writtenAs(select, query, target);
    const value = structuredClone(written);
    const first = firstOf(structuredClone(value));
    // The item may be a position or a name in the result, and the value there is about to change.
    items[index] = structuredClone(value);
    const order = { operator: Number(by[index]!.fields.sortop), collation: collationOf(target) };
    const excluded = new Set([...takers, ...comparedIn(clauses, value, order, meaning, facts)]);
    substitute(clauses, value, first, excluded);
  }
}

function targetOf(query: QueryNode, reference: unknown): QueryNode {
  return nodeList(query, 'targetList').find(({ fields }) => fields.ressortgroupref === reference)!;
}

/**
 * Before version 18, Postgres evaluates a subquery again, for some row of the group, if a grouping set omits it and it
 * should be null.
 */
function isReevaluated(target: QueryNode, query: QueryNode): boolean {
  const hasList = nodeList(query, 'rtable').some((entry) => nodeList(entry, 'groupexprs').length > 0);
  return !hasList && [...queryNodes(target)].some(({ tag }) => tag === 'SUBLINK');
}

function reevaluatedSubquery(): SetupError {
  return new SetupError(
    'it has GROUPING SETS, CUBE or ROLLUP over a subquery, for which Postgres before 18 can return an arbitrary value instead of null. Move the subquery into FROM, as LATERAL, or use Postgres 18',
  );
}

function isArray(target: QueryNode, facts: Facts): boolean {
  return partsOf(typeOf(target), facts).some((part) => part.isArray);
}

/** False if there is a star or a subquery, in which a name could refer to the value undetected. */
function canRewrite({ targetList, havingClause, sortClause }: Tree): boolean {
  for (const { type, node } of visits([targetList, havingClause, sortClause])) {
    if (type === 'SelectStmt' || names(node.fields).at(-1) === '*') return false;
  }
  return true;
}

/** Gives result columns explicit names, because other expressions will replace theirs. */
function nameTargets(select: Tree, query: QueryNode): void {
  const results = targets(query);
  (select.targetList as { ResTarget: Tree }[]).forEach(({ ResTarget }, i) => {
    ResTarget.name ??= results[i]!.fields.resname;
  });
}

function writtenAs(select: Tree, query: QueryNode, target: QueryNode): Tree {
  const index = targets(query).indexOf(target);
  return (select.targetList as { ResTarget: Tree }[])[index]!.ResTarget.val as Tree;
}

function firstOf(value: Tree): Tree {
  const all = call(['array_agg'], value);
  (all.FuncCall as Tree).agg_order = [ascending(bytes(structuredClone(value)))];
  return { A_Indirection: { arg: all, indirection: [{ A_Indices: { uidx: integer(1) } }] } };
}

/** Returns the calls that do not use one value of a group: aggregates receive all values, and GROUPING none. */
function takersOf(clauses: readonly unknown[], meaning: Meaning): ReadonlySet<unknown> {
  const takers = [...visits(clauses)].filter((visit) => visit.type === 'GroupingFunc' || isAggregate(meaning, visit));
  return new Set(takers.map(({ node }) => node));
}

/** An order that forms groups. */
interface GroupOrder {
  /** The OID of its `<`. */
  readonly operator: number;
  readonly collation: number;
}

/** Checks whether an expression compares values by an order. */
function isComparison(expression: QueryNode, { operator, collation }: GroupOrder, { orders }: Facts): boolean {
  const found = orders.get(numberOf(expression, 'opno') ?? 0) ?? [];
  return found.includes(operator) && numberOf(expression, 'inputcollid') === collation;
}

/**
 * Returns the operands in which the value itself is compared by that order, as in `price > 1`, or tested for null. The
 * answer is the same for all values of a group, and Postgres can compute it before it groups.
 */
function comparedIn(
  clauses: readonly unknown[],
  value: Tree,
  order: GroupOrder,
  meaning: Meaning,
  facts: Facts,
): unknown[] {
  const comparisons = [...visits(clauses)].filter(({ type, node }) => {
    if (type === 'NullTest') return true;
    const analyzed = type === 'A_Expr' ? meaning.nodesOf(node).filter(({ tag }) => tag !== 'BOOLEXPR') : [];
    return analyzed.length > 0 && analyzed.every((one) => isComparison(one, order, facts));
  });
  const sides = comparisons.flatMap(({ node }) => [node.lexpr, node.rexpr, node.arg]);
  return sides.filter((side) => isTree(side) && isWritten(side, value));
}

/** Replaces all occurrences of a value, except within excluded nodes. */
function substitute(clause: unknown, value: Tree, first: Tree, excluded: ReadonlySet<unknown>): void {
  if (!isTree(clause) || excluded.has(clause)) return;
  if (isWritten(clause, value)) put(clause, structuredClone(first));
  else for (const child of Object.values(clause)) substitute(child, value, first, excluded);
}

/** Checks whether a node is this value. A column can be written with or without its table. */
function isWritten(node: Tree, value: Tree): boolean {
  const [one, other] = [node, value].map(({ ColumnRef }) => (ColumnRef as { fields: Tree[] } | undefined)?.fields);
  if (!one || !other) return isSame(node, value);
  const length = Math.min(one.length, other.length);
  return isSame(one.slice(-length), other.slice(-length));
}

function nondeterministic({ fields }: QueryNode): SetupError {
  const what = fields.resname === null ? 'values' : `values of ${fields.resname}`;
  return new SetupError(
    `it groups by ${what} that can be equal but written differently, such as 1.0 and 1.00, so which one it returns is left to chance. Group by values that are written uniformly: ${castAdvice}`,
  );
}
