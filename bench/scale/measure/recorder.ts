import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase, PhaseName } from './costs.js';
import type { Stage } from './stage.js';

/**
 * The pause after a write, with few cohorts and with many. It covers the poll that finds the write and the rest after
 * that. If it were much longer, the processor would sleep, and the same work would take longer.
 */
const pauseMs = { few: 20, many: 100 };

/** Runs phases on a stage, and records the cost of each. */
export class Recorder {
  readonly stage: Stage;
  readonly phases = new Map<PhaseName, Phase>();
  readonly #progress: (message: string) => void;

  constructor(stage: Stage, progress: (message: string) => void) {
    this.stage = stage;
    this.#progress = progress;
  }

  /** @param times The number of repetitions of the phase's operation in `work`. */
  async phase(name: PhaseName, times: number, work: () => Promise<unknown>): Promise<void> {
    const { stage } = this;
    this.#progress(name);
    await stage.caughtUp();
    const before = await stage.statements();
    const spent = await stage.spent(async () => {
      await work();
      await stage.caughtUp();
    });
    const after = await stage.statements();
    const statements = {
      looks: after.looks - before.looks,
      primaryLooks: after.primaryLooks - before.primaryLooks,
      questions: after.questions - before.questions,
      deltas: after.deltas - before.deltas,
    };
    this.phases.set(name, { name, times, spent, statements });
  }

  /** Runs a phase that repeats the work with pauses, and more often if the pauses are short. */
  async inTurn(
    name: PhaseName,
    pause: keyof typeof pauseMs,
    writes: number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const one = async () => {
      await work();
      await sleep(pauseMs[pause]);
    };
    // A server polls rarely after a quiet time.
    await times(5, one);
    const count = pause === 'few' ? 3 * writes : writes;
    await this.phase(name, count, () => times(count, one));
  }
}

export async function times(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await work(i);
}
