import type { Installation } from '../installation/installation.js';
import type { Audiences, Listener } from './audiences.js';

/** Has listeners see their tables as these are now, whatever becomes of the tables' shape. */
export class Outlooks {
  readonly #audiences: Audiences;
  readonly #present: () => Promise<Installation>;
  #known: Installation | undefined;

  /** @param present the installation, which is another object once it has been read anew */
  constructor(audiences: Audiences, present: () => Promise<Installation>) {
    this.#audiences = audiences;
    this.#present = present;
  }

  /**
   * Brings all outlooks up to the present. An outlook that could not be found is tried again at each new reading.
   * @returns the listeners who see something else than before, or cannot see anything any more; all, when the database
   * is another one
   */
  async refresh(): Promise<Iterable<Listener>> {
    const known = this.#known;
    const present = await this.#present();
    if (present === known) return [];
    this.#known = present;
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
      // Pulls say, and log, what is wrong.
      listener.foundAt = undefined;
      return before !== undefined;
    }
  }
}
