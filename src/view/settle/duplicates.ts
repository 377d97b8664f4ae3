/**
 * DISTINCT, UNION and GROUP BY keep one of several equal rows. Where equal rows can be written differently, which one is left to chance:
 * finds out whether that can be, and whether the rows of the result can be told apart by the view's key instead.
 */
import type { Table } from '../../db/catalog.js';
import { SetupError } from '../../errors.js';
import { isExact, keyed, originOf } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import type { Facts } from '../analysis/facts.js';
import type { Meaning } from '../analysis/meaning.js';
import { isNode, nodeList, type QueryNode } from '../analysis/query-tree.js';
import { scopesOf } from '../parse/scopes.js';
import { type Tree, visits } from '../parse/tree.js';
import { isDistinctOn } from './order.js';

/**
 * Makes a query that removes duplicates at its outermost level keep them, where equal rows can be written differently.
 * @returns whether it did: of the rows that share a key, one then has to be chosen
 * @throws SetupError where that cannot be, saying what to write.
 */
export function keepDuplicates(select: Tree, meaning: Meaning, facts: Facts, tables: readonly Table[]): boolean {
  const keyOf = (relation: number) => keyColumns(tables, relation);
  const indifferent = new Set(membershipTests(select));
  let kept = false;
  for (const { select: level } of scopesOf(select).levels) {
    const query = meaning.queryOf(level);
    if (!query || indifferent.has(level)) continue;
    if (level === select && removesDuplicates(level) && alike(query, facts, keyOf) !== undefined) {
      if (level.limitCount || level.limitOffset) throw unclear(alike(query, facts, keyOf)!, 'DISTINCT or UNION');
      keepAll(level);
      kept = true;
    } else {
      checkLevel(level, query, facts, keyOf);
    }
  }
  return kept;
}

type KeyOf = (relation: number) => readonly number[] | undefined;

function keyColumns(tables: readonly Table[], relation: number): readonly number[] | undefined {
  return tables.find(({ oid }) => oid === relation)?.primaryKey.map(({ attnum }) => attnum);
}

/** The subqueries of EXISTS, IN and ANY: that a row is there is all they tell. */
function* membershipTests(select: Tree): Generator<Tree> {
  for (const { type, node } of visits({ SelectStmt: select })) {
    if (type !== 'SubLink' || !/^(EXISTS|ANY|ALL)_SUBLINK$/.test(node.subLinkType as string)) continue;
    for (let arms = [(node.subselect as { SelectStmt: Tree }).SelectStmt]; arms.length > 0; ) {
      yield* arms;
      arms = arms.flatMap(({ larg, rarg }) => [larg, rarg].filter((arm) => arm !== undefined)) as Tree[];
    }
  }
}

function removesDuplicates(select: Tree): boolean {
  return (select.op === 'SETOP_UNION' && !select.all) || (Boolean(select.distinctClause) && !isDistinctOn(select));
}

/** Below a UNION that removes duplicates, others that do change nothing. */
function keepAll(select: Tree): void {
  if (select.op === 'SETOP_UNION') {
    select.all = true;
    for (const arm of [select.larg, select.rarg] as Tree[]) if (removesDuplicates(arm) && !arm.limitCount) keepAll(arm);
  } else {
    delete select.distinctClause;
  }
}

function checkLevel(select: Tree, query: QueryNode, facts: Facts, keyOf: KeyOf): void {
  const { op, all } = select;
  if ((op !== 'SETOP_NONE' && !(op === 'SETOP_UNION' && all)) || removesDuplicates(select)) {
    const column = alike(query, facts, keyOf);
    if (column !== undefined) throw unclear(column, 'DISTINCT, UNION, INTERSECT or EXCEPT');
  }
  const grouped = groupedExpressions(query);
  const isKeyed = keyed(grouped, query, keyOf);
  const unclearGroup = grouped.find((expression, i) => !isKeyed[i] && !isExact(expression, facts));
  if (unclearGroup) throw unclear(unclearGroup.fields.resname as string | null, 'GROUP BY');
}

function groupedExpressions(query: QueryNode): QueryNode[] {
  const references = nodeList(query, 'groupClause').map(({ fields }) => fields.tleSortGroupRef);
  return nodeList(query, 'targetList').filter(({ fields }) => references.includes(fields.ressortgroupref!));
}

/** The name of a column of the result in which equal values can differ; undefined where there is none. */
function alike(query: QueryNode, facts: Facts, keyOf: KeyOf): string | null | undefined {
  const columns = targets(query);
  const isKeyed = isNode(query.fields.setOperations) ? keyedArms(query, keyOf) : keyed(columns, query, keyOf);
  const found = columns.find((column, i) => !isKeyed[i] && !isExact(column, facts));
  return found && (found.fields.resname as string | null);
}

/** A column is told apart by a key when it is, in every arm, the same column of the same table. */
function keyedArms(query: QueryNode, keyOf: KeyOf): boolean[] {
  const arms = nodeList(query, 'rtable').flatMap(({ fields }) => (isNode(fields.subquery) ? [fields.subquery] : []));
  const [first, ...others] = arms.map((arm) => {
    const columns = targets(arm);
    const isKeyed = keyed(columns, arm, keyOf);
    return columns.map((column, i) => {
      const origin = isKeyed[i] ? originOf(column, arm) : undefined;
      return origin && `${origin.relation}.${origin.column}`;
    });
  });
  return (first ?? []).map((origin, i) => origin !== undefined && others.every((arm) => arm[i] === origin));
}

function unclear(column: string | null, clause: string): SetupError {
  const what = column === null ? 'values' : `values of ${column}`;
  return new SetupError(
    `its ${clause} keeps one of several ${what} that can be equal and written differently, such as 1.0 and 1.00, and which one is left to chance. Give them one form: round or trim_scale for a numeric, lower for a case-insensitive text, a cast to text for all else`,
  );
}
