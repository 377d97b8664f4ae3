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

/** The pause before the next comparison, as a multiple of the time that the last one took. */
const pauseRatio = 9;

/**
 * The keys whose local values differ from the server's, tracked while there is a listener. The more mutations are
 * pending, the longer a comparison takes. So calls in a row share one, and until then each adds its keys.
 */
export class UnconfirmedKeys {
  readonly #store: Store;
  readonly #cell: Cell<ReadonlySet<string>>;
  #hasListener = false;
  #hasEnded = false;
  /** The state to which the keys belong. */
  #state: Commit | undefined;
  #notBefore = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onListener called when the first listener subscribes */
  constructor(store: Store, onListener: () => void) {
    this.#store = store;
    this.#cell = new Cell<ReadonlySet<string>>(new Set(), () => {
      this.#hasListener = true;
      onListener();
      return () => {
        this.#hasListener = false;
        this.#state = undefined;
      };
    });
  }

  get observable(): Observable<ReadonlySet<string>> {
    return this.#cell;
  }

  /** Updates the keys after any change of the data. */
  async compare(): Promise<void> {
    if (!this.#hasListener || this.#hasEnded) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const started = performance.now();
    await withRead(this.#store, async (read) => {
      const now = await commitFromHead('main', read);
      this.#state = now;
      this.#set(new Set(await changedKeys(await baseSnapshotFromCommit(now, read), now, read)));
    });
    const ended = performance.now();
    this.#notBefore = ended + pauseRatio * (ended - started);
  }

  /** Updates the keys after calls of this client. */
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
      // The previous state is no longer in memory, because a newly stored state has replaced it.
      return this.compare();
    }
    // Reads fail when the client is closing.
    this.#timer ??= setTimeout(() => this.compare().catch(() => {}), Math.max(0, this.#notBefore - performance.now()));
  }

  /** Removes all keys permanently. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
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
