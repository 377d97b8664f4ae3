import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from './deployment.js';
import type { Phase, PhaseName } from './phases.js';

/**
 * The pause after a write, with few cohorts and with many. It covers the poll that finds the write and the rest after
 * that. If it were much longer, the processor would sleep, and the same work would take longer.
 */
const pauseMs = { few: 20, many: 100 };

/** Runs phases on a deployment, and records the usage of each. */
export class Recorder {
  readonly deployment: Deployment;
  readonly phases: Phase[] = [];
  readonly #progress: (message: string) => void;

  constructor(deployment: Deployment, progress: (message: string) => void) {
    this.deployment = deployment;
    this.#progress = progress;
  }

  /** @param repetitions The number of times that `work` does the phase's operation. */
  async phase(name: PhaseName, repetitions: number, work: () => Promise<unknown>): Promise<void> {
    const { deployment } = this;
    this.#progress(name);
    await deployment.caughtUp();
    const before = await deployment.statements();
    const usage = await deployment.meter(async () => {
      await work();
      await deployment.caughtUp();
    });
    const after = await deployment.statements();
    const statements = {
      polls: after.polls - before.polls,
      primaryPolls: after.primaryPolls - before.primaryPolls,
      cohortQueries: after.cohortQueries - before.cohortQueries,
      deltas: after.deltas - before.deltas,
    };
    this.phases.push({ name, repetitions, ...usage, statements });
  }

  /** Runs a phase that repeats a write with pauses, and more often if the pauses are short. */
  async writes(
    name: PhaseName,
    cohorts: keyof typeof pauseMs,
    writes: number,
    write: () => Promise<unknown>,
  ): Promise<void> {
    const one = async () => {
      await write();
      await sleep(pauseMs[cohorts]);
    };
    // A server polls rarely after a quiet time.
    await repeat(5, one);
    const repetitions = cohorts === 'few' ? 3 * writes : writes;
    await this.phase(name, repetitions, () => repeat(repetitions, one));
  }
}

export async function repeat(times: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await work(i);
}
