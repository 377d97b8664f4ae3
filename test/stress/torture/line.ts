/** A line of the scorecard: the trouble for the servers, and what must hold. */
import type { Result } from '../../../bench/scenario.js';
import type { EngineName } from './rig/engines.js';

/** Full for the record, short for CI. */
export type Size = 'full' | 'short';

export interface Torture {
  readonly size: Size;
  /** The folder of the compiled package under test. */
  readonly code: string;
  readonly seed: number;
  /** The engine of the clients. */
  readonly engine: EngineName;
  /** The duration of lines that run for a time. Default: determined by the size. */
  readonly minutes: number | undefined;
  readonly progress: (message: string) => void;
}

/** The result of a line. */
export interface Outcome {
  readonly results: readonly Result[];
  /** Charts as SVG, by file name. */
  readonly charts?: Readonly<Record<string, string>>;
}

export interface Line {
  /** Its number, or its name. */
  readonly line: string;
  readonly title: string;
  /** The condition for passing. */
  readonly pass: string;
  /** The duration in full size, in minutes. */
  readonly minutes: number;
  run(torture: Torture): Promise<Outcome>;
}
