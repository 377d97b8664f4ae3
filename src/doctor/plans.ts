/** What Postgres plans to do for each view, whoever asks. */
import type { Database } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import { noHeader } from '../installation/check-views.js';
import type { Bound } from '../installation/current-installation.js';
import { allSeen } from '../protocol/snapshot.js';
import { deltaQuery } from '../store/patches/patch-sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import type { BoundView } from '../view/client-views.js';
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
  /** Reads all rows: for a first pull, a reset, or each delta of a view that is compared. */
  readonly full: PlanNode | undefined;
  /** Reads what a few changes of one table mean, for each table of a view that is not compared. */
  readonly deltas: readonly { readonly table: SyncedTable; readonly plan: PlanNode }[];
}

const planMs = 30_000;

/** Has Postgres plan each view for parameters of any value. Plans that it cannot make so are left out. */
export function explainViews(db: Database, { installation, views }: Bound): Promise<ViewPlans[]> {
  return db.atOneMoment(async (query) => {
    const plans: ViewPlans[] = [];
    for (const bound of views) {
      const { view } = bound;
      const placeholders = view.parameterTypes.map((_, i) => `$${i + 1}`);
      const full = await explain(query, bound, render(view.whole, placeholders));
      const deltas: { table: SyncedTable; plan: PlanNode }[] = [];
      const read = installation.tables.filter(({ oid }) => view.occurrenceTables.includes(oid));
      for (const table of view.strategy === 'compare' ? [] : read) {
        const general = { ...bound, literals: placeholders };
        const plan = await explain(query, bound, deltaQuery(noHeader, [general], [{ table, rows: 1 }], allSeen));
        if (plan) deltas.push({ table, plan });
      }
      plans.push({ name: view.name, full, deltas });
    }
    return plans;
  });
}

/** Explains a generic plan, in a way that Postgres 15 knows too. Serial, so that each node estimates all of its rows. */
async function explain(query: Database['query'], { view }: BoundView, text: string): Promise<PlanNode | undefined> {
  const list = (items: readonly string[]) => (items.length === 0 ? '' : `(${items.join(', ')})`);
  try {
    await query({ text: 'set local plan_cache_mode = force_generic_plan' });
    await query({ text: 'set local max_parallel_workers_per_gather = 0' });
    await query({ text: `prepare tidemark_doctor ${list(view.parameterTypes)} as ${text}` });
    try {
      const [explained] = await query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (format json, verbose) execute tidemark_doctor ${list(view.parameterTypes.map(() => 'null'))}`,
        timeoutMs: planMs,
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
