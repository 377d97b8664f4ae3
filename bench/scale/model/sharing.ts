import type { Agenda } from './agenda.js';

/** Requests that arrive while others are being answered are answered together afterwards. */
export class Sharing<Asker> {
  readonly #agenda: Agenda;
  readonly #ms: number;
  readonly #begin: (askers: readonly Asker[]) => () => void;
  #waiting: Asker[] = [];
  #isRunning = false;

  /** @param begin Starts an answer. The function that it returns is called when the requests have their answer. */
  constructor(agenda: Agenda, ms: number, begin: (askers: readonly Asker[]) => () => void) {
    this.#agenda = agenda;
    this.#ms = ms;
    this.#begin = begin;
  }

  ask(asker: Asker): void {
    this.#waiting.push(asker);
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    this.#isRunning = this.#waiting.length > 0;
    if (!this.#isRunning) return;
    const end = this.#begin(this.#waiting);
    this.#waiting = [];
    this.#agenda.after(this.#ms, () => {
      end();
      this.#run();
    });
  }
}
