/** Checks whether every change to a table is captured. */
import type { Table } from '../../catalog/tables.js';
import { identifier } from '../../sql.js';
import { captureFunction } from './capture-function.js';
import { triggerNames } from './triggers.js';

/** One of Tidemark's triggers, as the catalogs describe it. */
export interface CaptureRow {
  readonly tableID: number;
  /** The OID of the table or partition that has the trigger. */
  readonly relation: number;
  readonly trigger: string;
  /** As in `pg_trigger.tgenabled`. */
  readonly enabled: string;
  /** The body of the trigger's function. */
  readonly body: string;
  /** True if a logical replication subscription writes to the table or partition. */
  readonly subscribed: boolean;
}

/** Why changes to a table are not captured (a clause), and how to fix that (a sentence without its full stop). */
export interface CaptureFault {
  readonly reason: string;
  readonly remedy: string;
}

/** Finds the triggers that call capture functions, by change-log IDs of tables. Keeps its plan, as in `findTables`. */
export const captureSql: string = `
  select s.id as "tableID", t.tgrelid as relation, t.tgname::text as trigger, t.tgenabled::text as enabled, p.prosrc as body,
    exists (select from pg_subscription_rel r where r.srrelid = t.tgrelid) as subscribed
  from tidemark.synced_table s
  join pg_proc p on p.pronamespace = 'tidemark'::regnamespace and p.proname = 'capture_' || s.id
  join pg_trigger t on t.tgfoid = p.oid
  where s.id = any ((select $1)::integer[])`;

/** Returns a fault that `tidemark migrate` fixes. */
export function repairable(reason: string): CaptureFault {
  return { reason, remedy: 'Run `tidemark migrate`' };
}

export const neverCaptured: CaptureFault = repairable('it has never been captured');

/**
 * Apply workers fire only row triggers, which only partitioned tables have. Once a subscription has ended, nothing
 * shows what it wrote.
 */
const subscription: CaptureFault = {
  reason: 'a logical replication subscription writes to it, and such writes fire no statement triggers',
  remedy:
    'Take the table out of the subscription, and then reset all clients: update tidemark.meta set install_id = gen_random_uuid()',
};

/** Returns why a table's changes are not all captured; undefined if they are. */
export function captureFault(table: Table, id: number, rows: readonly CaptureRow[]): CaptureFault | undefined {
  if (table.primaryKey.length === 0) return repairable('it has no primary key');
  const tableRows = rows.filter((row) => row.tableID === id);
  const expectedBodies = [true, false].map((hasFixedText) => captureFunction(id, table, hasFixedText).body);
  for (const part of table.parts) {
    const label = identifier(part.schema, part.name);
    for (const trigger of triggerNames(table, part)) {
      const row = tableRows.find((candidate) => candidate.relation === part.oid && candidate.trigger === trigger);
      if (!row) return repairable(`the trigger ${trigger} is missing on ${label}`);
      if (row.enabled !== 'A') return repairable(`the trigger ${trigger} on ${label} does not always fire`);
      if (!expectedBodies.includes(row.body)) return repairable(`the capture of ${label} does not match its columns`);
      if (row.subscribed && table.kind !== 'p') return subscription;
    }
  }
  return undefined;
}

/** Returns a message: changes to a table are not captured, why, and how to fix that. */
export function explainFault(table: string, { reason, remedy }: CaptureFault): string {
  return `Changes to ${table} are not captured: ${reason}. ${remedy}.`;
}
