/** Finds the large tables that plans read from end to end although they want few of the rows. Pure. */
import { beginsWith, rowsIn, type TableSize } from '../catalog/table-sizes.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import { equalColumns } from './conditions.js';
import { type Finding, finding } from './finding.js';
import type { PlanNode, ViewPlans } from './plans.js';

/** Smaller tables are read as soon as an index is. */
const fewRows = 10_000;
/** An index helps to find this part of a table, or less. */
const smallPart = 0.1;

/** A scan of a whole table. */
interface Scan {
  readonly table: SyncedTable;
  /** About how many rows the table has, with all its partitions. */
  readonly rows: number;
  /** Whether its own condition leaves few of the rows. */
  readonly isSelective: boolean;
  /** The columns of the indexes that would help; empty if that is not known. */
  readonly columns: readonly (readonly string[])[];
}

/** What is worth saying about one view's plans. */
export function judgePlans(
  { name, full, deltas }: ViewPlans,
  tables: readonly SyncedTable[],
  sizes: readonly TableSize[],
): Finding[] {
  const found = new Map<string, Finding>();
  const report = (scans: readonly Scan[], when: string) => {
    for (const scan of scans) {
      // One index may serve the full read and all deltas.
      const id = JSON.stringify([scan.table.oid, scan.columns]);
      if (!found.has(id)) found.set(id, missingIndex(name, scan, when));
    }
  };
  if (full) {
    const scans = scansIn(full, tables, sizes);
    report(
      scans.filter((scan) => scan.isSelective),
      'for each first pull and reset',
    );
  }
  for (const { table, plan } of deltas) {
    report(withoutVague(scansIn(plan, tables, sizes)), `for each delta after a change of ${labelOf(table)}`);
  }
  return [...found.values()];
}

/** Which tables Postgres knows too little about for its plans to say anything. */
export function judgeSizes(sizes: readonly TableSize[]): Finding[] {
  return sizes
    .filter(({ rows, bytes }) => rows < 0 && bytes > 1024 ** 2)
    .map(({ schema, name }) =>
      finding('not-analyzed', {
        subject: `${schema}.${name}`,
        what: `The table ${schema}.${name} has never been analyzed.`,
        advice: 'Analyze it, and run this again: then it can say which indexes are missing.',
        sql: `analyze ${identifier(schema, name)}`,
      }),
    );
}

function scansIn(root: PlanNode, tables: readonly SyncedTable[], sizes: readonly TableSize[]): Scan[] {
  return [...nodesOf(root, [])].flatMap(({ node, joins }): Scan[] => {
    if (node['Node Type'] !== 'Seq Scan') return [];
    const isIt = ({ schema, name }: { schema: string; name: string }) =>
      schema === node.Schema && name === node['Relation Name'];
    const table = tables.find(({ parts }) => parts.some(isIt));
    const size = sizes.find(isIt);
    if (!table || !size) return [];
    const rows = rowsIn(table, sizes);
    if (rows < fewRows) return [];
    const isSelective = node.Filter !== undefined && node['Plan Rows'] <= smallPart * size.rows;
    const conditions = [...joins, ...(node.Filter === undefined ? [] : [node.Filter])];
    const columns = conditions
      .map((condition) => equalColumns(condition, node.Alias!))
      .find(({ length }) => length > 0);
    const missing = columns?.filter((wanted) => !size.indexes.some((index) => beginsWith(index, wanted)));
    // Postgres knows the index, and does not want it.
    if (columns && missing!.length === 0) return [];
    return [{ table, rows, isSelective, columns: missing ?? [] }];
  });
}

interface Visit {
  readonly node: PlanNode;
  /** The conditions of the joins around it, the nearest first. */
  readonly joins: readonly string[];
}

function* nodesOf(node: PlanNode, joins: readonly string[]): Generator<Visit> {
  yield { node, joins };
  const own = [node['Hash Cond'], node['Merge Cond'], node['Join Filter']].filter(
    (condition) => condition !== undefined,
  );
  for (const child of node.Plans ?? []) yield* nodesOf(child, [...own, ...joins]);
}

/** A table may be scanned at several places of a plan, of which only some show the columns. */
function withoutVague(scans: readonly Scan[]): Scan[] {
  const isClear = ({ columns }: Scan) => columns.length > 0;
  return scans.filter((scan) => isClear(scan) || !scans.some((other) => other.table === scan.table && isClear(other)));
}

function missingIndex(view: string, { table, rows, columns }: Scan, when: string): Finding {
  const concurrently = table.kind === 'p' ? '' : 'concurrently ';
  const indexes = columns.map(
    (names) =>
      `create index ${concurrently}on ${identifier(table.schema, table.name)} (${names.map((name) => identifier(name)).join(', ')})`,
  );
  return finding('missing-index', {
    subject: labelOf(table),
    what: `The view "${view}" reads all of ${labelOf(table)}, about ${Math.round(rows)} rows, ${when}.`,
    advice:
      indexes.length > 0
        ? 'Create the index, or another one that begins with these columns.'
        : 'Find an index for its joins and filters: EXPLAIN the query of the view.',
    sql: indexes.length > 0 ? indexes.join('; ') : null,
  });
}

function labelOf({ schema, name }: SyncedTable): string {
  return `${schema}.${name}`;
}
