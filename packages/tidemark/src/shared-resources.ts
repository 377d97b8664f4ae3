/** The resources that several syncs in one process share. */
import type { ConnectionBudget } from './db/connection-budget.js';
import type { AdmissionOptions } from './limits/admission.js';
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
  /** The admission of all of them together. */
  readonly parentAdmission: AdmissionOptions['parent'];
  readonly pollPacer: PollPacer;
  /** Counts the requests of the sync. */
  readonly requestTracker: RequestTracker;
}
