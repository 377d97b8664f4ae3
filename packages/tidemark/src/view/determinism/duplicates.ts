/**
 * DISTINCT, UNION and EXCEPT keep one of several equal rows. If equal rows can be written differently, Postgres may
 * keep any of them. The rewritten query keeps the first in byte order.
 */
import { SetupError } from '../../errors.js';
import { castAdvice, isExact, keyed, originOf, type PrimaryKeys, primaryKeysOf } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import type { Meaning, Operation } from '../analysis/meaning.js';
import type { QueryNode } from '../analysis/query-tree.js';
import { ascending, columnRef, integer } from '../parse/nodes.js';
import { scopesOf } from '../parse/scopes.js';
import { isTree, type Tree, visits } from '../parse/tree.js';
import { makeGroupsDeterministic } from './groups.js';
import { type DeterminismContext, isDistinctOn, isLimited } from './order.js';

/**
 * Makes it deterministic which of several equal rows remain. If the outermost level removes duplicates, the rewritten
 * query keeps them, and the view chooses one by its key, because that works for changed rows alone.
 * @returns true if the query keeps duplicates
 * @throws SetupError if the query cannot be made deterministic; the message says what to write.
 */
export function makeDuplicatesDeterministic(select: Tree, { meaning, facts, tables }: DeterminismContext): boolean {
  const primaryKeys = primaryKeysOf(tables);
  const indifferent = new Set(membershipTests(select));
  let keepsDuplicates = false;
  let chosen = 0;
  for (const { select: level } of scopesOf(select).levels) {
    const query = meaning.queryOf(level);
    if (query) makeGroupsDeterministic(level, query, meaning, facts, primaryKeys);
    if (!removesDuplicates(level) || indifferent.has(level)) continue;
    const columns = columnsOf(level, meaning, primaryKeys);
    const column = columns.find((one) => !one.isKeyed && !isExact(one.expression, facts))?.name;
    if (column === undefined) continue;
    if (isLimited(level) || level.op === 'SETOP_INTERSECT' || level.all) throw unclear(column);
    if (level.op === 'SETOP_EXCEPT') {
      replace(select, level.larg as Tree, oneOfEach(level.larg as Tree, columns.length, ++chosen));
    } else if (level === select) {
      keepAll(level);
      keepsDuplicates = true;
    } else {
      keepAll(level);
      replace(select, level, oneOfEach(level, columns.length, ++chosen));
    }
  }
  return keepsDuplicates;
}

/** Returns a query for the first row of each set of equal rows. Its DISTINCT ON is made deterministic later. */
function oneOfEach(select: Tree, width: number, number: number): Tree {
  const alias = `tidemark_d${number}`;
  const columns = Array.from({ length: width }, (_, i) => integer(i + 1));
  delete select.sortClause;
  return {
    distinctClause: columns,
    targetList: [{ ResTarget: { val: columnRef('*') } }],
    fromClause: [{ RangeSubselect: { subquery: { SelectStmt: select }, alias: { aliasname: alias } } }],
    sortClause: columns.map(ascending),
    limitOption: 'LIMIT_OPTION_DEFAULT',
    op: 'SETOP_NONE',
  };
}

/** Replaces one SELECT with another. */
function replace(tree: Tree, old: Tree, select: Tree): void {
  for (const [key, child] of Object.entries(tree)) {
    if (child === old) tree[key] = select;
    else if (isTree(child)) replace(child, old, select);
  }
}

/** Yields subqueries of EXISTS, IN, ANY and ALL, and right sides of EXCEPT, where only a row's existence matters. */
function* membershipTests(select: Tree): Generator<Tree> {
  for (const { type, node } of visits({ SelectStmt: select })) {
    for (let arms = type === 'SelectStmt' ? takenAway(node) : testedIn(node); arms.length > 0; ) {
      yield* arms;
      arms = arms.flatMap(({ larg, rarg }) => [larg, rarg].filter((arm) => arm !== undefined)) as Tree[];
    }
  }
}

function takenAway({ op, rarg }: Tree): Tree[] {
  return op === 'SETOP_EXCEPT' ? [rarg as Tree] : [];
}

const membershipLinks = ['EXISTS_SUBLINK', 'ANY_SUBLINK', 'ALL_SUBLINK'];

function testedIn({ subLinkType, subselect }: Tree): Tree[] {
  return membershipLinks.includes(subLinkType as string) ? [(subselect as { SelectStmt: Tree }).SelectStmt] : [];
}

function removesDuplicates(select: Tree): boolean {
  const { op, all, distinctClause } = select;
  if (op !== 'SETOP_NONE') return op !== 'SETOP_UNION' || !all;
  return Boolean(distinctClause) && !isDistinctOn(select);
}

/** Makes a SELECT keep duplicates. Nested UNIONs that remove duplicates make no difference, so they keep them, too. */
function keepAll(select: Tree): void {
  if (select.op === 'SETOP_NONE') {
    delete select.distinctClause;
  } else {
    select.all = true;
    for (const arm of [select.larg, select.rarg] as Tree[]) {
      const isUnion = arm.op === 'SETOP_UNION' || arm.op === 'SETOP_NONE';
      if (isUnion && removesDuplicates(arm) && !isLimited(arm)) keepAll(arm);
    }
  }
}

interface Column {
  readonly name: string;
  /** Has the type with which Postgres compares the column's values. */
  readonly expression: QueryNode;
  /** True if equal values of the column come from one row, and are identical. */
  readonly isKeyed: boolean;
}

/** Returns the columns by which a SELECT distinguishes rows. */
function columnsOf(select: Tree, meaning: Meaning, primaryKeys: PrimaryKeys): Column[] {
  const operation = meaning.operationOf(select);
  const query = operation ? operation.arms[0]! : meaning.queryOf(select)!;
  const results = targets(query);
  const expressions = operation ? comparedBy(operation, results.length) : results;
  const isKeyed = operation ? keyedArms(operation, primaryKeys) : keyed(results, query, primaryKeys);
  return results.map(({ fields }, i) => ({
    name: fields.resname as string,
    expression: expressions[i]!,
    isKeyed: isKeyed[i]!,
  }));
}

/** Returns the columns that a set operation compares. Their types may differ from those of its arms. */
function comparedBy({ node }: Operation, count: number): QueryNode[] {
  // The first item of each list is a letter for the kind of its items.
  const listed = (name: string, i: number) => (node.fields[name] as readonly string[])[i + 1]!;
  return Array.from({ length: count }, (_, i) => {
    const fields = {
      type: listed('colTypes', i),
      typmod: listed('colTypmods', i),
      collation: listed('colCollations', i),
    };
    return { tag: node.tag, fields };
  });
}

/** Checks for each column whether all arms take it from one table column, with a key there that identifies its row. */
function keyedArms({ arms }: Operation, primaryKeys: PrimaryKeys): boolean[] {
  const [first, ...others] = arms.map((arm) => {
    const columns = targets(arm);
    const isKeyed = keyed(columns, arm, primaryKeys);
    return columns.map((column, i) => {
      const origin = isKeyed[i] ? originOf(column, arm) : undefined;
      return origin && `${origin.relation}.${origin.column}`;
    });
  });
  return (first ?? []).map((origin, i) => origin !== undefined && others.every((arm) => arm[i] === origin));
}

function unclear(column: string): SetupError {
  return new SetupError(
    `it keeps one of several values of ${column} that can be equal but written differently, such as 1.0 and 1.00, and which one is left to chance. Write them uniformly: ${castAdvice}`,
  );
}
