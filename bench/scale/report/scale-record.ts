/** The record of a run, kept as JSON. */
import type { Run } from '../../report/run-record.js';
import type { Design, Phase } from '../measure/phases.js';

export interface ScaleRecord extends Run {
  readonly isQuick: boolean;
  readonly design: Design;
  /** With reads from the primary, and with reads from a standby. */
  readonly primary: readonly Phase[];
  readonly standby: readonly Phase[];
}
