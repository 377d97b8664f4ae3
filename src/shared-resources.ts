/** The resources that several syncs in one process share. */
import type { ConnectionBudget } from './db/connection-budget.js';
import type { BudgetOptions } from './limits/budget.js';
import type { PollPacer } from './limits/poll-pacer.js';
import type { Logger } from './log.js';
import type { RequestTracker } from './telemetry/requests.js';
import type { Telemetry } from './telemetry/telemetry.js';

/** Without shared resources, a sync has its own of each. */
export interface SharedResources {
  readonly telemetry: Telemetry;
  readonly log: Logger;
  /** The limit on connections to databases. */
  readonly connectionBudget: Pick<ConnectionBudget, 'createPool'>;
  /** The parents of a sync's budgets. */
  readonly parentBudgets: Readonly<Record<'bodies' | 'spool' | 'streams', BudgetOptions['parent']>>;
  readonly pollPacer: PollPacer;
  /** Counts the requests of the sync. */
  readonly requestTracker: RequestTracker;
}
