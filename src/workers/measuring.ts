/** Asks the workers what they have measured, and keeps what those have counted that have ended. */
import type { Exposition, Measurements } from '../telemetry/exposition.js';
import { exposeTogether, remainsOf } from '../telemetry/exposition.js';

/** How long a worker may take to answer. Then its last answer counts. */
const patienceMs = 2_000;

/** A process that measures. */
export interface Measured {
  /** Asks it; `answered` is to be called with its answer. */
  measure(id: number): void;
}

interface Question {
  readonly asked: Set<Measured>;
  readonly end: () => void;
}

export class Measuring {
  readonly #last = new Map<Measured, Measurements>();
  readonly #questions = new Map<number, Question>();
  #remains: Measurements = [];
  /** Takes what remains of one process after the other. */
  #keeping: Promise<void> = Promise.resolve();
  #ids = 0;

  add(process: Measured): void {
    this.#last.set(process, []);
  }

  /** What all have measured until now. */
  async expose(): Promise<Exposition> {
    await this.#ask();
    await this.#keeping;
    return exposeTogether([...this.#last.values(), this.#remains]);
  }

  answered(process: Measured, id: number, measurements: Measurements): void {
    this.note(process, measurements);
    this.#settle(process, id);
  }

  /** What a process has measured, though nobody has asked. */
  note(process: Measured, measurements: Measurements): void {
    if (this.#last.has(process)) this.#last.set(process, measurements);
  }

  /** The process has ended. What it counted goes on to count. */
  ended(process: Measured): void {
    const last = this.#last.get(process);
    this.#last.delete(process);
    for (const id of this.#questions.keys()) this.#settle(process, id);
    if (last === undefined) return;
    this.#keeping = this.#keeping.then(async () => {
      this.#remains = await remainsOf([this.#remains, last]);
    });
  }

  #ask(): Promise<void> {
    const id = ++this.#ids;
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(), patienceMs);
      const end = () => {
        clearTimeout(timer);
        this.#questions.delete(id);
        resolve();
      };
      const asked = new Set(this.#last.keys());
      if (asked.size === 0) return end();
      this.#questions.set(id, { asked, end });
      for (const process of asked) process.measure(id);
    });
  }

  #settle(process: Measured, id: number): void {
    const question = this.#questions.get(id);
    if (question?.asked.delete(process) && question.asked.size === 0) question.end();
  }
}
