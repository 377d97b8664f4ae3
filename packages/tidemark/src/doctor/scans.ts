/** Finds the large tables that plans scan in full although they need few of the rows. Pure. */
import { beginsWith, rowsIn, type TableSize } from '../catalog/table-sizes.js';
import { tableLabel } from '../catalog/tables.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import { equalColumns } from './conditions.js';
import { type Finding, finding } from './finding.js';
import type { PlanNode, ViewPlans } from './plans.js';

/** Scanning a smaller table is as fast as using an index. */
const minTableRows = 10_000;
/** An index helps to find this fraction of a table, or less. */
const maxSelectivity = 0.1;

/** A scan of a whole table. */
interface Scan {
  readonly table: SyncedTable;
  /** The estimated number of rows of the table with all its partitions. */
  readonly rows: number;
  /** True if the scan's own condition keeps few of the rows. */
  readonly isSelective: boolean;
  /** The columns of the indexes that would help; empty if unknown. */
  readonly columns: readonly (readonly string[])[];
}

/** Reports the indexes that one view's plans lack. */
export function judgePlans(
  { name, full, deltas }: ViewPlans,
  tables: readonly SyncedTable[],
  sizes: readonly TableSize[],
): Finding[] {
  const findings = new Map<string, Finding>();
  const addScans = (scans: readonly Scan[], when: string) => {
    for (const scan of scans) {
      // One index may serve the full read and all deltas.
      const id = JSON.stringify([scan.table.oid, scan.columns]);
      if (!findings.has(id)) findings.set(id, missingIndex(name, scan, when));
    }
  };
  if (full) {
    const scans = scansIn(full, tables, sizes);
    addScans(
      scans.filter((scan) => scan.isSelective),
      'for each first pull and reset',
    );
  }
  for (const { table, plan } of deltas) {
    addScans(withoutVague(scansIn(plan, tables, sizes)), `for each delta after a change of ${tableLabel(table)}`);
  }
  return [...findings.values()];
}

/** Reports large tables that have never been analyzed, so that their plans prove nothing. */
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
    if (rows < minTableRows) return [];
    const isSelective = node.Filter !== undefined && node['Plan Rows'] <= maxSelectivity * size.rows;
    const conditions = [...joins, ...(node.Filter === undefined ? [] : [node.Filter])];
    const columns = conditions
      .map((condition) => equalColumns(condition, node.Alias!))
      .find(({ length }) => length > 0);
    const missing = columns?.filter((candidate) => !size.indexes.some((index) => beginsWith(index, candidate)));
    // The index exists, but Postgres chooses not to use it.
    if (columns && missing!.length === 0) return [];
    return [{ table, rows, isSelective, columns: missing ?? [] }];
  });
}

interface Visit {
  readonly node: PlanNode;
  /** The conditions of the enclosing joins, innermost first. */
  readonly joins: readonly string[];
}

function* nodesOf(node: PlanNode, joins: readonly string[]): Generator<Visit> {
  yield { node, joins };
  const nodeConditions = [node['Hash Cond'], node['Merge Cond'], node['Join Filter']].filter(
    (condition) => condition !== undefined,
  );
  for (const child of node.Plans ?? []) yield* nodesOf(child, [...nodeConditions, ...joins]);
}

/** Drops the scans of a table that show no columns, if another scan of the table in the same plan does. */
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
    subject: tableLabel(table),
    what: `The view "${view}" reads all of ${tableLabel(table)}, about ${Math.round(rows)} rows, ${when}.`,
    advice:
      indexes.length > 0
        ? 'Create the index, or another one that begins with these columns.'
        : 'Find an index for its joins and filters: EXPLAIN the query of the view.',
    sql: indexes.length > 0 ? indexes.join('; ') : null,
  });
}
