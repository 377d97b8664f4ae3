import type { Phase, PhaseName } from './costs.js';
import type { Stage } from './stage.js';

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
}

export async function times(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await work(i);
}
