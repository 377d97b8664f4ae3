/** Divides a view's query into partitions, with the help of a database that says what the query means. */
import type { Database } from '../../db/database.js';
import { codeOf } from '../../db/sqlstate.js';
import { understand } from '../analysis/meaning.js';
import { tablesIn } from '../compile/rewrite.js';
import { deparseSelect, parseSelect } from '../parse/syntax.js';
import { render, toTemplate } from '../parse/template.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import type { TableOf } from '../settle/qualify.js';
import { type Divided, type Partition, partitionOf } from './partition.js';
import { restrict } from './restrict.js';

/** What is to be divided, and the SQL names of the types of its parameters. */
interface Dividend extends Divided {
  readonly parameterTypes: readonly string[];
}

/**
 * @param select without WITH queries
 * @returns undefined if nothing is known about what changes affect
 */
export async function divide(db: Database, dividend: Dividend, tableOf: TableOf): Promise<Partition | undefined> {
  // What Postgres says of it is found by places in the text.
  const text = deparseSelect(dividend.select);
  const select = parseSelect(text);
  const meaning = understand(select, await db.describe(text, dividend.parameterTypes));
  const occurrences = new Map(tablesIn(select).map((range, i) => [range, i]));
  const partition = partitionOf({ ...dividend, select }, { meaning, occurrences, tableOf });
  return partition && (await isUnderstood(db, dividend, partition)) ? partition : undefined;
}

/** True if Postgres understands the queries that were made. It does not where a join hides the name of a table, say. */
async function isUnderstood(
  db: Database,
  { select, parameterTypes }: Dividend,
  { queries, places }: Partition,
): Promise<boolean> {
  const values = parameterTypes.map((type) => `null::${type}`);
  const written = (tree: Tree) => render(toTemplate(deparseSelect(tree)), values);
  const telling = queries.filter(({ tellsPartition }) => tellsPartition).map((query) => written(query.select));
  const others = queries.filter(({ tellsPartition }) => !tellsPartition).map((query) => written(query.select));
  const restricted = cloneTree(select);
  restrict(restricted, places, 'one');
  const exists = others.map((query) => `exists (${query})`);
  const from =
    telling.length === 0
      ? ''
      : `from (${telling.join(' union all ')}) tidemark_c cross join lateral (${written(restricted)}) r`;
  try {
    await db.describe(`select ${from} where ${['true', ...exists].join(' or ')}`);
    return true;
  } catch (error) {
    // Syntax errors, unknown or ambiguous names, and types that do not fit.
    if (codeOf(error)?.startsWith('42')) return false;
    throw error;
  }
}
