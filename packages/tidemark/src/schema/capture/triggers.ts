/** The triggers of a synced table, as SQL text. */
import type { Table } from '../../catalog/tables.js';
import { identifier } from '../../sql.js';
import { captureFunctionName } from './capture-function.js';

interface Trigger {
  readonly name: string;
  /** When it fires, and for which command. */
  readonly event: string;
  /** The SQL between the table's name and EXECUTE. */
  readonly scope: string;
}

/** Fires before the rows are removed, because a TRUNCATE of an empty table is not logged. */
const truncate: Trigger = { name: 'tidemark_truncate', event: 'before truncate', scope: 'for each statement' };

/** Fire once for each statement, with its rows in transition tables, so that bulk writes stay cheap. */
const statementTriggers: readonly Trigger[] = [
  { name: 'tidemark_insert', event: 'after insert', scope: 'referencing new table as new_rows for each statement' },
  {
    name: 'tidemark_update',
    event: 'after update',
    scope: 'referencing old table as old_rows new table as new_rows for each statement',
  },
  { name: 'tidemark_delete', event: 'after delete', scope: 'referencing old table as old_rows for each statement' },
];

/**
 * For partitioned tables. Partitions inherit row triggers from their parent, even if they are created later. Statement
 * triggers fire only for the table that a statement names, and a row that MERGE moves to another partition is in no
 * transition table (observed on Postgres 15 and 18).
 */
const rowTriggers: readonly Trigger[] = ['insert', 'update', 'delete'].map((event) => ({
  name: `tidemark_${event}`,
  event: `after ${event}`,
  scope: 'for each row',
}));

function triggersOf(table: Table): readonly Trigger[] {
  return [...(table.kind === 'p' ? rowTriggers : statementTriggers), truncate];
}

/** Returns the names of the triggers that a table, or one of its partitions, must have. */
export function triggerNames(table: Table, relation: { readonly oid: number }): string[] {
  const isRoot = relation.oid === table.oid;
  return triggersOf(table)
    .filter((trigger) => isRoot || trigger !== truncate)
    .map(({ name }) => name);
}

/**
 * Returns the statements that create or replace the triggers of a table and its partitions. The capture function must
 * exist. With ENABLE ALWAYS, the triggers also fire if `session_replication_role` is `replica`.
 */
export function createCaptureTriggers(id: number, table: Table): string[] {
  const relation = identifier(table.schema, table.name);
  return triggersOf(table).flatMap(({ name, event, scope }) => [
    `create or replace trigger ${name} ${event} on ${relation} ${scope} execute function ${captureFunctionName(id)}()`,
    `alter table ${relation} enable always trigger ${name}`,
  ]);
}
