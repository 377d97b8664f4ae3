/** Reads Postgres's plans for each view, for any user. */
import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { allSeen } from '../protocol/snapshot.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import { noObservation } from '../schema/views/check-views.js';
import { deltaQuery } from '../store/patches/patch-sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import type { ResolvedView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';

/** A node of a plan, as `explain (format json, verbose)` writes it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly Schema?: string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly 'Plan Rows': number;
  readonly Filter?: string;
  readonly 'Hash Cond'?: string;
  readonly 'Merge Cond'?: string;
  readonly 'Join Filter'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plans of one view. */
export interface ViewPlans {
  readonly name: string;
  /** The plan that reads all rows: for a first pull, a reset, or each delta of a compared view. */
  readonly full: PlanNode | undefined;
  /** The plan of a delta after a few changes of one table, for each table of a view that is not compared. */
  readonly deltas: readonly { readonly table: SyncedTable; readonly plan: PlanNode }[];
}

const planTimeoutMs = 30_000;

/** Has Postgres plan each view for any parameter values. Omits the plans that it cannot make this way. */
export function explainViews(db: Database, { schema, views }: ResolvedViews): Promise<ViewPlans[]> {
  return db.inSnapshot(async (query) => {
    const plans: ViewPlans[] = [];
    for (const resolved of views) {
      const { view } = resolved;
      const placeholders = view.parameterTypes.map((_, i) => `$${i + 1}`);
      const full = await explain(query, resolved, render(view.whole, placeholders));
      const deltas: { table: SyncedTable; plan: PlanNode }[] = [];
      const readTables = schema.tables.filter(({ oid }) => view.occurrenceTables.includes(oid));
      for (const table of view.strategy === 'compare' ? [] : readTables) {
        const general = { ...resolved, literals: placeholders };
        const plan = await explain(
          query,
          resolved,
          deltaQuery(noObservation, [general], [{ table, rows: 1 }], allSeen),
        );
        if (plan) deltas.push({ table, plan });
      }
      plans.push({ name: view.name, full, deltas });
    }
    return plans;
  });
}

/** Explains a generic plan in a way that Postgres 15 supports. Serial, so that each node estimates all of its rows. */
async function explain(query: Database['query'], { view }: ResolvedView, text: string): Promise<PlanNode | undefined> {
  const list = (items: readonly string[]) => (items.length === 0 ? '' : `(${items.join(', ')})`);
  try {
    await query({ text: 'set local plan_cache_mode = force_generic_plan' });
    await query({ text: 'set local max_parallel_workers_per_gather = 0' });
    await query({ text: `prepare tidemark_doctor ${list(view.parameterTypes)} as ${text}` });
    try {
      const [explained] = await query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (format json, verbose) execute tidemark_doctor ${list(view.parameterTypes.map(() => 'null'))}`,
        timeoutMs: planTimeoutMs,
      });
      return explained!['QUERY PLAN'][0].Plan;
    } finally {
      await query({ text: 'deallocate tidemark_doctor' });
    }
  } catch (error) {
    if (isTransient(error)) throw error;
    return undefined;
  }
}
