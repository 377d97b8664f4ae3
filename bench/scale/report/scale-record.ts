/** What is kept of a run, as JSON. */
import type { Machine } from '../../report/run-record.js';
import type { Held } from '../held.js';
import type { Measured } from '../measure/costs.js';
import type { Assumptions, Figures } from '../model/workload.js';

export interface ScaleRecord {
  readonly at: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly node: string;
  readonly tidemark: string;
  readonly postgres: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly isQuick: boolean;
  readonly assumptions: Assumptions;
  /** With the primary being read, and with a standby. */
  readonly primary: Measured;
  readonly standby: Measured;
  readonly held: readonly Held[];
}

export function figuresOf({ primary, standby }: Pick<ScaleRecord, 'primary' | 'standby'>): Figures {
  const { traffic, memory } = primary;
  return { primary: primary.costs, standby: standby.costs, traffic, memory };
}
