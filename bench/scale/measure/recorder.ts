import { setTimeout as sleep } from 'node:timers/promises';
import type { Phase, PhaseName } from './costs.js';
import type { Stage } from './stage.js';

/**
 * After a write, the next one comes when the look that found it has ended, and so has its rest: with few seats, and with
 * many. Much later, the processor would have slept, and the same work would take it longer.
 */
const pauseMs = { few: 20, many: 100 };

/** Runs phases on a stage, and keeps what each has spent. */
export class Recorder {
  readonly stage: Stage;
  readonly phases = new Map<PhaseName, Phase>();
  readonly #progress: (message: string) => void;

  constructor(stage: Stage, progress: (message: string) => void) {
    this.stage = stage;
    this.#progress = progress;
  }

  /** @param times how often `work` does the phase's one thing in total */
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

  /** A phase that does the work so many times, with pauses, and more often with short ones. */
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
    // After a quiet time, a server looks rarely.
    await times(5, one);
    const count = pause === 'few' ? 3 * writes : writes;
    await this.phase(name, count, () => times(count, one));
  }
}

export async function times(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await work(i);
}
