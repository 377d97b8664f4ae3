import type { StatusTracker } from './status.js';

/** The initial retry delay. The engine normally stores a change within this time. */
const defaultRetryMs = 2_000;
/** The maximum retry delay. */
const maxRetryMs = 30_000;

/** Tracks whether all data in memory has been stored, and retries failed writes. */
export class Saving {
  readonly #status: StatusTracker;
  readonly #persist: () => Promise<void>;
  #changes = 0;
  #savedChanges = 0;
  #hasPulled = false;
  #retryMs = defaultRetryMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param persist stores the data in memory, through `save` */
  constructor(status: StatusTracker, persist: () => Promise<void>) {
    this.#status = status;
    this.#persist = persist;
  }

  /** Records a change of the data in memory. */
  changed(): void {
    this.#changes++;
    this.#status.saving();
    this.#schedule();
  }

  /** Records that a pull has been applied. Stores the first one immediately, because a reload would repeat it. */
  pulled(): void {
    this.changed();
    if (this.#hasPulled) return;
    this.#hasPulled = true;
    this.#try();
  }

  /** @throws every error of `persist`, after reporting it to the status */
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
    this.#savedChanges = changes;
    this.#retryMs = defaultRetryMs;
    if (this.#isSaved) this.#status.saved();
  }

  /** Stops the retries: nothing more is stored. */
  end(): void {
    clearTimeout(this.#timer);
    this.#savedChanges = this.#changes;
  }

  get #isSaved(): boolean {
    return this.#savedChanges === this.#changes;
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isSaved) this.#try();
    }, this.#retryMs);
  }

  #try(): void {
    // The status shows the error.
    this.#persist().catch(() => {});
  }
}
