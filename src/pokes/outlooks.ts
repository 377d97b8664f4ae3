import type { Installation } from '../installation/installation.js';
import type { Audiences, Listener } from './audiences.js';

/** Keeps what listeners see up to date when the shape of their tables changes. */
export class Outlooks {
  readonly #audiences: Audiences;
  readonly #present: () => Promise<Installation>;
  #known: Installation | undefined;
  /** A listener has come whose outlook is from another reading. */
  #isBehind = false;

  /** @param present returns the installation, which is another object whenever it has been read again */
  constructor(audiences: Audiences, present: () => Promise<Installation>) {
    this.#audiences = audiences;
    this.#present = present;
  }

  /** A listener has come. Its outlook may have been found out before the last reading. */
  add({ foundAt }: Listener): void {
    this.#isBehind ||= foundAt !== this.#known?.shape;
  }

  /**
   * Brings all outlooks up to date. An outlook that could not be found out is tried again at each new reading.
   * @returns the listeners that see something else than before, or cannot see anything any more; all listeners if the
   * database is another one
   */
  async refresh(): Promise<Iterable<Listener>> {
    const known = this.#known;
    const present = await this.#present();
    if (present === known && !this.#isBehind) return [];
    this.#known = present;
    this.#isBehind = false;
    const stale = [...this.#audiences.listeners()].filter(({ foundAt }) => foundAt !== present.shape);
    const concerned = await Promise.all(stale.map((listener) => this.#renew(listener, present.shape)));
    if (known && known.cluster !== present.cluster) return this.#audiences.listeners();
    return stale.filter((_, i) => concerned[i]);
  }

  async #renew(listener: Listener, shape: string): Promise<boolean> {
    const before = listener.foundAt === undefined ? undefined : listener.outlook.shape;
    try {
      const outlook = await listener.lookUp();
      this.#audiences.move(listener, outlook);
      listener.foundAt = shape;
      return outlook.shape !== before;
    } catch {
      // Pulls report, and log, what is wrong.
      listener.foundAt = undefined;
      return before !== undefined;
    }
  }
}
