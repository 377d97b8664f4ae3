/** The record of a run, kept as JSON. */
import type { Run } from '../../report/run-record.js';
import type { Held } from '../held.js';
import type { Measured } from '../measure/costs.js';
import type { Assumptions, Figures } from '../model/workload.js';

export interface ScaleRecord extends Run {
  readonly isQuick: boolean;
  readonly assumptions: Assumptions;
  /** With reads from the primary, and with reads from a standby. */
  readonly primary: Measured;
  readonly standby: Measured;
  readonly held: readonly Held[];
}

export function figuresOf({ primary, standby }: Pick<ScaleRecord, 'primary' | 'standby'>): Figures {
  const { traffic, memory } = primary;
  return { primary: primary.costs, standby: standby.costs, traffic, memory };
}
