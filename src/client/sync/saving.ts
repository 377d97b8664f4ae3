import type { StatusTracker } from './status.js';

/** How long the engine usually takes, at most, until it has stored a change. */
const usualMs = 2_000;
/** The longest wait until storing is tried again. */
const maxRetryMs = 30_000;

/** Follows whether all that is in memory is stored, and stores again what could not be stored. */
export class Saving {
  readonly #status: StatusTracker;
  readonly #persist: () => Promise<void>;
  #changes = 0;
  #saved = 0;
  #hasPulled = false;
  #retryMs = usualMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param persist stores what is in memory, by way of `save` */
  constructor(status: StatusTracker, persist: () => Promise<void>) {
    this.#status = status;
    this.#persist = persist;
  }

  /** That there is something new in memory. */
  changed(): void {
    this.#changes++;
    this.#status.saving();
    this.#schedule();
  }

  /** That a pull has been applied. The first one is stored at once: it is the one that a reload would repeat. */
  pulled(): void {
    this.changed();
    if (this.#hasPulled) return;
    this.#hasPulled = true;
    this.#try();
  }

  /** @throws what `persist` throws, which the status then tells */
  async save(persist: () => Promise<void>): Promise<void> {
    const changes = this.#changes;
    try {
      await persist();
    } catch (error) {
      this.#status.notSaved(error);
      this.#retryMs = Math.min(2 * this.#retryMs, maxRetryMs);
      this.#schedule();
      throw error;
    }
    this.#saved = changes;
    this.#retryMs = usualMs;
    if (this.#isSaved) this.#status.saved();
  }

  /** That nothing is stored any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#saved = this.#changes;
  }

  get #isSaved(): boolean {
    return this.#saved === this.#changes;
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isSaved) this.#try();
    }, this.#retryMs);
  }

  #try(): void {
    // The status says what fails.
    this.#persist().catch(() => {});
  }
}
