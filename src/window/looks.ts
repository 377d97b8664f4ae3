import type { Database } from '../db/database.js';
import type { Installation } from '../installation/installation.js';
import { covers } from '../protocol/snapshot.js';
import { disconnectsID } from '../store/disconnects.js';
import { readReport } from '../store/header.js';
import { news } from '../store/look.js';
import { Coalescer } from './coalesce.js';
import { Window } from './window.js';

const patienceMs = 100;

/** The installation, as it was at most a second ago. */
export interface Readings {
  present(): Promise<Pick<Installation, 'cluster' | 'tableIDs'>>;
  /** Is told that nothing has been committed between two times of the clock. */
  remained(since: number, until: number): void;
}

/**
 * Keeps a window up to date, by looks at the database that everybody shares who waits for one. Nothing depends on the
 * window but speed: it can begin anew at any time.
 */
export class Looks {
  readonly #db: Database;
  readonly #readings: Readings;
  readonly #most: number;
  readonly #looks = new Coalescer((asked: readonly undefined[]) => this.#look(asked), patienceMs);
  #window: Window | undefined;
  #cluster: string | undefined;
  /** When the look had ended that last found anything new. */
  #newsAt = 0;

  /** @param most how many transactions the window holds at most */
  constructor(db: Database, readings: Readings, most: number) {
    this.#db = db;
    this.#readings = readings;
    this.#most = most;
  }

  /** The window, after a look that began after this was called. */
  look(): Promise<Window> {
    return this.#looks.ask('', undefined);
  }

  /** The window as the last look left it. */
  get window(): Window | undefined {
    return this.#window;
  }

  async #look(asked: readonly undefined[]): Promise<Window[]> {
    const window = await this.#lookOnce();
    return asked.map(() => window);
  }

  async #lookOnce(): Promise<Window> {
    const { tableIDs, cluster } = await this.#readings.present();
    const tables = [...tableIDs, disconnectsID];
    const known = this.#cluster === cluster && this.#window?.lists(tables) ? this.#window : undefined;
    const seen = known?.header;
    const input = { base: seen?.snapshot, tables, isListed: seen !== undefined, tick: seen?.tick };
    const newsAt = this.#newsAt;
    const begunAt = Date.now();
    const [row] = await this.#db.query<{ line: string }>(news(input, seen));
    if (!row) {
      this.#readings.remained(newsAt, begunAt);
      return known!;
    }
    this.#newsAt = Date.now();
    const report = readReport(row.line);
    const { header } = report;
    if (known && known === this.#window) {
      if (known.isContinuedBy(header)) {
        known.extend(report);
        return known;
      }
      // A look that began later has ended before this one.
      if (known.header !== seen && covers(known.header.shown, header.snapshot)) return known;
    }
    this.#window = new Window(header, tables, this.#most);
    this.#cluster = cluster;
    return this.#window;
  }
}
