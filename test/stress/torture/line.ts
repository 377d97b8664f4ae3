/** A line of the scorecard: what is done to the servers, and what must hold. */
import type { Result } from '../../../bench/scenario.js';
import type { EngineName } from './rig/engines.js';

/** In full, for the record; or short, for CI. */
export type Size = 'full' | 'short';

export interface Torture {
  readonly size: Size;
  /** The folder of the compiled package under test. */
  readonly code: string;
  readonly seed: number;
  /** What the clients are. */
  readonly engine: EngineName;
  /** How long the lines take that go on for a time. Default: as the size has it. */
  readonly minutes: number | undefined;
  readonly progress: (message: string) => void;
}

/** What a line has found out. */
export interface Outcome {
  readonly results: readonly Result[];
  /** Charts, as SVG, by the names of their files. */
  readonly charts?: Readonly<Record<string, string>>;
}

export interface Line {
  /** Its number, or its name. */
  readonly line: string;
  readonly title: string;
  /** When it has passed. */
  readonly pass: string;
  /** How long it takes in full, in minutes. */
  readonly minutes: number;
  run(torture: Torture): Promise<Outcome>;
}
