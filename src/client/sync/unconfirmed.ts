import {
  baseSnapshotFromCommit,
  type Commit,
  commitFromHead,
  type DiffConfig,
  diffCommits,
  type Store,
  type StoreRead,
  withRead,
} from '#engine';
import { Cell, type Observable } from '../observable.js';

const entriesOnly: DiffConfig = { shouldComputeDiffs: () => true, shouldComputeDiffsForIndex: () => false };

/** How many times longer than the last comparison took, the next one waits. */
const pauseRatio = 9;

/**
 * The keys at which the data here differs from what the server has sent, as long as somebody listens. A comparison takes
 * longer the more is pending. So many calls in a row share one, and until then each adds the keys that it has changed.
 */
export class UnconfirmedKeys {
  readonly #store: Store;
  readonly #cell: Cell<ReadonlySet<string>>;
  #isHeard = false;
  #hasEnded = false;
  /** The state that the keys are of. */
  #state: Commit | undefined;
  #notBefore = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** @param onListener called when the first listener comes */
  constructor(store: Store, onListener: () => void) {
    this.#store = store;
    this.#cell = new Cell<ReadonlySet<string>>(new Set(), () => {
      this.#isHeard = true;
      onListener();
      return () => {
        this.#isHeard = false;
        this.#state = undefined;
      };
    });
  }

  get observable(): Observable<ReadonlySet<string>> {
    return this.#cell;
  }

  /** That the data has changed, however that was. */
  async compare(): Promise<void> {
    if (!this.#isHeard || this.#hasEnded) return;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    const started = performance.now();
    await withRead(this.#store, async (read) => {
      const now = await commitFromHead('main', read);
      this.#state = now;
      this.#set(new Set(await changedKeys(await baseSnapshotFromCommit(now, read), now, read)));
    });
    const ended = performance.now();
    this.#notBefore = ended + pauseRatio * (ended - started);
  }

  /** That calls have changed the data. */
  async addCalls(): Promise<void> {
    const before = this.#state;
    if (!before || performance.now() >= this.#notBefore) return this.compare();
    try {
      await withRead(this.#store, async (read) => {
        const now = await commitFromHead('main', read);
        this.#state = now;
        this.#set(new Set([...this.#cell.get(), ...(await changedKeys(before, now, read))]));
      });
    } catch {
      // The state before is no longer in memory: what was stored meanwhile has taken its place.
      return this.compare();
    }
    // A client that is being closed cannot be read any more.
    this.#waiting ??= setTimeout(() => this.compare().catch(() => {}), this.#notBefore - performance.now());
  }

  /** That there are none any more. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#waiting);
    this.#cell.set(new Set());
  }

  #set(keys: ReadonlySet<string>): void {
    if (!this.#hasEnded) this.#cell.set(keys);
  }
}

async function changedKeys(before: Commit, after: Commit, read: StoreRead): Promise<string[]> {
  const diffs = await diffCommits(before, after, read, entriesOnly, 7);
  return (diffs.get('') ?? []).map(({ key }) => key);
}
