import type { Phase, PhaseName, Statements } from './phases.js';

/** Processor time in microseconds: of the server, of the primary, and of the standby. */
export interface Cpu {
  readonly server: number;
  readonly primary: number;
  readonly standby: number;
}

/** Adds up costs, each multiplied by its number of times. */
export function sumOf(...terms: readonly (readonly [times: number, cost: Cpu])[]): Cpu {
  const of = (part: keyof Cpu) => terms.reduce((sum, [times, cost]) => sum + times * cost[part], 0);
  return { server: of('server'), primary: of('primary'), standby: of('standby') };
}

/** The cost of one repetition in each phase. */
export class PhaseCosts {
  readonly #phases: ReadonlyMap<PhaseName, Phase>;
  /** The cost of a second in which nothing happens. */
  readonly idle: Cpu;

  constructor(phases: readonly Phase[]) {
    this.#phases = new Map(phases.map((phase) => [phase.name, phase]));
    const idle = this.phase('idle');
    this.idle = sumOf([1 / idle.seconds, cpuOf(idle)]);
  }

  phase(name: PhaseName): Phase {
    const phase = this.#phases.get(name);
    if (!phase) throw new Error(`the phase "${name}" was not measured`);
    return phase;
  }

  /** Excludes the cost of an idle server during that time. */
  each(name: PhaseName): Cpu {
    const phase = this.phase(name);
    return sumOf([1 / phase.repetitions, cpuOf(phase)], [-phase.seconds / phase.repetitions, this.idle]);
  }

  statements(name: PhaseName, kind: keyof Statements): number {
    const { statements, repetitions } = this.phase(name);
    return statements[kind] / repetitions;
  }
}

function cpuOf({ cpuMs: { server, primary, standby } }: Phase): Cpu {
  return { server: 1000 * server, primary: 1000 * primary, standby: 1000 * standby };
}
