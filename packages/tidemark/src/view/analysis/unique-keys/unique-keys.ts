/**
 * Proves from primary keys and equalities that a key identifies a row of a query. If there is no proof, the key counts
 * as not unique.
 */
import { columnReadBy, type PrimaryKeys } from './exactness.js';
import { collationOf, targets } from './expressions.js';
import { isNode, nodeList, numberOf, type QueryNode } from './query-tree.js';

/**
 * Returns true if no two rows of an analyzed query can have the same key.
 * @param key the columns of the result that make up the key
 */
export function identifiesRows(query: QueryNode, key: readonly string[], primaryKeys: PrimaryKeys): boolean {
  return isUnique(
    query,
    targets(query).filter(({ fields }) => key.includes(fields.resname as string)),
    primaryKeys,
  );
}

/** @param knownTargets columns of the result whose values are given */
function isUnique(query: QueryNode, knownTargets: readonly QueryNode[], primaryKeys: PrimaryKeys): boolean {
  const { hasTargetSRFs, hasAggs, setOperations } = query.fields;
  if (isNode(setOperations)) {
    return setOperations.fields.all === 'false' && knownTargets.length === targets(query).length;
  }
  if (nodeList(query, 'groupingSets').length > 0) return false;
  const determined = determinedBy(query, knownTargets, primaryKeys);
  const haveAll = (clause: string) =>
    nodeList(query, clause).every((one) => {
      const target = targetOf(query, one);
      const column = columnOf(target, query);
      return knownTargets.includes(target) || (column !== undefined && isDetermined(column, determined));
    });
  if (nodeList(query, 'distinctClause').length > 0 && haveAll('distinctClause')) return true;
  if (hasTargetSRFs === 'true') return false;
  if (nodeList(query, 'groupClause').length > 0) return haveAll('groupClause');
  return hasAggs === 'true' || determined?.others.size === 0;
}

function targetOf(query: QueryNode, { fields: { tleSortGroupRef } }: QueryNode): QueryNode {
  return nodeList(query, 'targetList').find(({ fields }) => fields.ressortgroupref === tleSortGroupRef)!;
}

/** A column of an entry in the query's range table: the entry's number, and the column's. */
type Column = `${number}.${number}`;

/** The second column has one value for each value of the first. For a constant, there is no first column. */
type Dependency = readonly [from: Column | undefined, to: Column];

/** The parts of a query that each combination of values of the known result columns determines. */
interface Determined {
  /** Columns that have one value for each combination. */
  readonly columns: ReadonlySet<Column>;
  /** The entries of the range table that may have several rows for a combination. */
  readonly others: ReadonlySet<number>;
}

/** True if a column has one value for each combination. */
function isDetermined(column: Column, determined: Determined | undefined): boolean {
  if (!determined) return false;
  return determined.columns.has(column) || !determined.others.has(Number.parseInt(column, 10));
}

/** @returns undefined if nothing is known, because of how the query joins its entries */
function determinedBy(
  query: QueryNode,
  knownTargets: readonly QueryNode[],
  primaryKeys: PrimaryKeys,
): Determined | undefined {
  const joined = joinedIn(query.fields.jointree as QueryNode, query);
  if (!joined) return undefined;
  const columns = new Set(knownTargets.flatMap((target) => columnOf(injected(target), query) ?? []));
  const others = new Set(joined.entries);
  const determined: Determined = { columns, others };
  let before: number;
  do {
    before = columns.size - others.size;
    for (const [from, to] of joined.dependencies) {
      if (from === undefined || isDetermined(from, determined)) columns.add(to);
    }
    for (const number of others) {
      const entry = nodeList(query, 'rtable')[number - 1]!;
      const isKnown = (column: number) => isDetermined(`${number}.${column}`, determined);
      if (isEntryUnique(entry, isKnown, primaryKeys)) others.delete(number);
    }
    for (const number of joined.entries) {
      const isKnown = (column: number) => columns.has(`${number}.${column}`);
      if (!joined.nullable.includes(number)) {
        for (const column of comparedOutside(number, isKnown, query, primaryKeys)) columns.add(column);
      }
    }
  } while (columns.size - others.size > before);
  return determined;
}

function isEntryUnique(entry: QueryNode, has: (column: number) => boolean, primaryKeys: PrimaryKeys): boolean {
  const { subquery } = entry.fields;
  if (isNode(subquery)) {
    const knownTargets = targets(subquery).filter((target) => has(numberOf(target, 'resno')!));
    return isUnique(subquery, knownTargets, primaryKeys);
  }
  const key = primaryKeys.get(numberOf(entry, 'relid') ?? 0);
  return key !== undefined && key.length > 0 && key.every(has);
}

/**
 * Returns outer columns that a LATERAL subquery equates with its own, if its own have one value for each combination of
 * values of the known columns of its result.
 */
function comparedOutside(
  number: number,
  isKnown: (column: number) => boolean,
  query: QueryNode,
  primaryKeys: PrimaryKeys,
): Column[] {
  const { lateral, subquery } = nodeList(query, 'rtable')[number - 1]!.fields;
  if (lateral !== 'true' || !isNode(subquery) || !isNode(subquery.fields.jointree)) return [];
  const { quals } = subquery.fields.jointree.fields;
  if (!isNode(quals)) return [];
  const knownTargets = targets(subquery).filter((target) => isKnown(numberOf(target, 'resno')!));
  const determined = determinedBy(subquery, knownTargets, primaryKeys);
  return equalitiesIn(quals).flatMap(([one, other]) => {
    const inner = columnOf(relabeled(one), subquery);
    const outer = relabeled(other);
    if (!inner || !isDetermined(inner, determined) || numberOf(outer, 'varlevelsup') !== 1) return [];
    return columnOf({ ...outer, fields: { ...outer.fields, varlevelsup: '0' } }, query) ?? [];
  });
}

interface Joined {
  readonly entries: readonly number[];
  /** The entries among these that an outer join may fill with nulls. */
  readonly nullable: readonly number[];
  readonly dependencies: readonly Dependency[];
}

const inner = '0';
const leftJoin = '1';

/** Returns what a part of FROM reads and the dependencies that its conditions imply; undefined if unknown. */
function joinedIn(item: QueryNode, query: QueryNode): Joined | undefined {
  if (item.tag === 'RANGETBLREF') return { entries: [numberOf(item, 'rtindex')!], nullable: [], dependencies: [] };
  const { jointype = inner, larg, rarg } = item.fields;
  const items = item.tag === 'FROMEXPR' ? nodeList(item, 'fromlist') : [larg, rarg].filter(isNode);
  const parts = items.map((part) => joinedIn(part, query)).filter((part) => part !== undefined);
  if (parts.length < items.length || ![inner, leftJoin].includes(jointype as string)) return undefined;
  const implied = isNode(item.fields.quals) ? dependenciesOf(item.fields.quals, query) : [];
  const isOfRight = (column: Column) => parts[1]!.entries.includes(Number.parseInt(column, 10));
  // The condition of an outer join decides which rows of the right side match. It implies nothing about the left.
  const valid = jointype === leftJoin ? implied.filter(([, to]) => isOfRight(to)) : implied;
  return {
    entries: parts.flatMap(({ entries }) => entries),
    nullable: [...parts.flatMap(({ nullable }) => nullable), ...(jointype === leftJoin ? parts[1]!.entries : [])],
    dependencies: [...parts.flatMap(({ dependencies }) => dependencies), ...valid],
  };
}

/** The operators = of integers, numeric, text, uuid, dates and times, oid and boolean, also of mixed types. */
const equalities = new Set([
  15, 91, 94, 96, 98, 410, 416, 532, 533, 607, 1054, 1093, 1320, 1752, 1862, 1868, 2060, 2972,
]);

function dependenciesOf(condition: QueryNode, query: QueryNode): Dependency[] {
  return equalitiesIn(condition).flatMap(([from, to]): Dependency[] => {
    const column = columnOf(relabeled(to), query);
    if (!column) return [];
    if (isConstant(from)) return [[undefined, column]];
    const fromColumn = columnOf(relabeled(from), query);
    return fromColumn ? [[fromColumn, column]] : [];
  });
}

/** Returns the equalities that a condition implies, in both directions. One value of `from` means one value of `to`. */
function equalitiesIn(condition: QueryNode): (readonly [from: QueryNode, to: QueryNode])[] {
  const args = nodeList(condition, 'args');
  if (condition.fields.boolop === 'and') return args.flatMap(equalitiesIn);
  const [one, other] = args;
  if (!one || !other || !equalities.has(numberOf(condition, 'opno') ?? 0)) return [];
  const collation = numberOf(condition, 'inputcollid') ?? 0;
  const both = [
    [one, other],
    [other, one],
  ] as const;
  // With another collation, different values of a side could equal one value.
  return both.filter(([, to]) => collationOf(to) === collation);
}

function isConstant(expression: QueryNode): boolean {
  const { tag, fields } = relabeled(expression);
  const isCast = tag === 'COERCEVIAIO' || (tag === 'FUNCEXPR' && fields.funcformat !== '0');
  if (isCast) return [fields.arg, ...nodeList(expression, 'args')].filter(isNode).every(isConstant);
  return tag === 'CONST' || tag === 'PARAM';
}

function columnOf(expression: QueryNode, query: QueryNode): Column | undefined {
  const found = columnReadBy(expression, query);
  return found && found.column > 0 ? `${found.entryNumber}.${found.column}` : undefined;
}

/** Returns an expression without casts that leave its value unchanged. */
function relabeled(expression: QueryNode): QueryNode {
  const { tag, fields } = expression;
  return tag === 'RELABELTYPE' && isNode(fields.arg) ? relabeled(fields.arg) : expression;
}

const text = 25;

/** The operators || of text, and of text and any other type. */
const concatenations = new Set([374, 654, 2779]);

/** Returns the part that an expression determines: the operand of a cast to text, or of || with a constant. */
function injected(expression: QueryNode): QueryNode {
  const { tag, fields } = expression;
  if (tag === 'TARGETENTRY' && isNode(fields.expr)) return injected(fields.expr);
  const keepsValue = tag === 'RELABELTYPE' || (tag === 'COERCEVIAIO' && numberOf(expression, 'resulttype') === text);
  if (keepsValue && isNode(fields.arg)) return injected(fields.arg);
  if (!concatenations.has(numberOf(expression, 'opno') ?? 0)) return expression;
  const [one, ...others] = nodeList(expression, 'args').filter((arg) => relabeled(arg).tag !== 'CONST');
  return one && others.length === 0 ? injected(one) : expression;
}
