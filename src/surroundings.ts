/** What a sync shares with the others of its process, where there are others. */
import type { ConnectionStock } from './db/connection-stock.js';
import type { BudgetOptions } from './limits/budget.js';
import type { Logger } from './log.js';
import type { Telemetry } from './telemetry/telemetry.js';

/** By default, a sync has all of this for itself. */
export interface Surroundings {
  readonly telemetry: Telemetry;
  readonly log: Logger;
  /** What connections are taken from. */
  readonly stock: Pick<ConnectionStock, 'createPool'>;
  /** What the budgets of a sync are part of. */
  readonly within: Readonly<Record<'bodies' | 'spool' | 'streams', BudgetOptions['within']>>;
  /** How often to look for changes, in milliseconds, if a sync by itself would look that often. */
  readonly lookIntervalMs: (own: number) => number;
  /** Called when a request has been answered to the end of its body, once for each. */
  readonly onAnswered: () => void;
}
