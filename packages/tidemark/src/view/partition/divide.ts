/** Divides a view's query into partitions. A database analyzes the query, and checks the queries derived from it. */
import type { Database } from '../../db/database.js';
import { codeOf } from '../../db/sqlstate.js';
import { understand } from '../analysis/meaning.js';
import { tablesIn } from '../compile/rewrite.js';
import type { NamedTables } from '../determinism/qualify.js';
import { deparseSelect, parseSelect } from '../parse/syntax.js';
import { render, toTemplate } from '../parse/template.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import { type Partition, type PartitionInput, partitionOf } from './partition.js';
import { restrict } from './restrict.js';

/** The query to divide, and the SQL names of its parameters' types. */
interface DivideInput extends PartitionInput {
  readonly parameterTypes: readonly string[];
}

/**
 * @param input a query without WITH
 * @returns undefined if nothing is known about what changes affect
 */
export async function divide(
  db: Database,
  input: DivideInput,
  namedTables: NamedTables,
): Promise<Partition | undefined> {
  // Postgres refers to nodes by their locations in this text.
  const text = deparseSelect(input.select);
  const select = parseSelect(text);
  const meaning = understand(select, await db.describe(text, input.parameterTypes));
  const occurrences = new Map(tablesIn(select).map((range, i) => [range, i]));
  const partition = partitionOf({ ...input, select }, { meaning, occurrences, namedTables });
  return partition && (await isUnderstood(db, input, partition)) ? partition : undefined;
}

/** Checks that Postgres accepts the derived queries. For example, it does not if a join hides the name of a table. */
async function isUnderstood(
  db: Database,
  { select, parameterTypes }: DivideInput,
  { queries, restrictionPoints }: Partition,
): Promise<boolean> {
  const values = parameterTypes.map((type) => `null::${type}`);
  const written = (tree: Tree) => render(toTemplate(deparseSelect(tree)), values);
  const partitionQueries = queries
    .filter(({ identifiesPartition }) => identifiesPartition)
    .map((query) => written(query.select));
  const otherQueries = queries
    .filter(({ identifiesPartition }) => !identifiesPartition)
    .map((query) => written(query.select));
  const restricted = cloneTree(select);
  restrict(restricted, restrictionPoints, 'one');
  const exists = otherQueries.map((query) => `exists (${query})`);
  const from =
    partitionQueries.length === 0
      ? ''
      : `from (${partitionQueries.join(' union all ')}) tidemark_c cross join lateral (${written(restricted)}) r`;
  try {
    await db.describe(`select ${from} where ${['true', ...exists].join(' or ')}`);
    return true;
  } catch (error) {
    // Syntax errors, unknown or ambiguous names, and mismatched types.
    if (codeOf(error)?.startsWith('42')) return false;
    throw error;
  }
}
