/**
 * Proves from primary keys and equalities that a key identifies a row of a query. If there is no proof, the key counts
 * as not unique.
 */
import type { PrimaryKeys } from '../exactness.js';
import { targets } from '../expressions.js';
import { isNode, nodeList, numberOf, type QueryNode } from '../query-tree.js';
import { type Column, columnOf, equalitiesIn, injected, joinedIn, relabeled } from './dependencies.js';

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
