/** Counts the rows of each table that a statement reads, from Postgres's own counters. */
import type { Pool } from 'pg';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { literal } from '../../../packages/tidemark/src/db/literal.js';

/** By table: rows that scans returned, and rows that they read and filtered out. */
export type TableReads = Readonly<Record<string, number>>;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The work of a statement, by its plan. */
export interface PlanWork {
  readonly reads: TableReads;
  /** The scans of tables: `table by index`, or `all of table`. */
  readonly scans: readonly string[];
  /** All rows that the plan's nodes yield or filter out, in every loop. */
  readonly rows: number;
}

/** Explains the query inside `copy (…) to stdout`. */
export async function explainCopy(pool: Pool, copy: string): Promise<PlanWork> {
  const query = copy.slice(copy.indexOf('(') + 1, copy.lastIndexOf(') to stdout'));
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (analyze, format json) ${query}`);
  const plan = rows[0]!['QUERY PLAN'][0].Plan;
  const reads: Record<string, number> = { list: 0, todo: 0, share: 0 };
  count(plan, reads);
  return { reads, scans: [...new Set(scansIn(plan))].sort(), rows: workOf(plan) };
}

function scansIn(node: PlanNode): string[] {
  const { 'Relation Name': table, 'Index Name': index, 'Actual Loops': loops, Plans: parts = [] } = node;
  // The scan around a bitmap's index, or one further out, names the relation.
  const names = parts.filter(({ 'Node Type': type }) => type.startsWith('Bitmap')).map((part) => part['Index Name']);
  const [by = index] = names;
  const ownScans =
    table === undefined || loops === 0 ? [] : [by === undefined ? `all of ${table}` : `${table} by ${by}`];
  return [...ownScans, ...parts.flatMap(scansIn)];
}

/** The `rows` of `PlanWork`, with the generic plan. */
export async function countWork(pool: Pool, { text, values = [] }: Statement): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query(`set plan_cache_mode = force_generic_plan; prepare counted as ${text}`);
    const parameters = values.map(literal);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) execute counted (${parameters.join(', ')})`,
    );
    return workOf(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    client.release(true);
  }
}

function workOf(node: PlanNode): number {
  const parts = node.Plans ?? [];
  return rowsOf(node) + parts.reduce((sum, part) => sum + workOf(part), 0);
}

function rowsOf(node: PlanNode): number {
  const dropped =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0);
  return (node['Actual Rows'] + dropped) * node['Actual Loops'];
}

function count(node: PlanNode, reads: Record<string, number>): void {
  const table = node['Relation Name'];
  if (table !== undefined) reads[table] = (reads[table] ?? 0) + rowsOf(node);
  for (const child of node.Plans ?? []) count(child, reads);
}
