import { type ClientError, refusedRequest, storageFailed, storageUnavailable, unreachable } from '../client-error.js';
import { Cell, type Observable } from '../observable.js';

/** The state of a client's connection and storage. */
export interface Status {
  /**
   * - `connecting`: nothing has been pulled yet
   * - `online`: the last requests succeeded
   * - `offline`: the server cannot be reached, the browser has no network, or `setOnline(false)` was called
   * - `unauthorized`: the server does not accept the credentials
   * - `error`: the server refuses requests for another reason, its response cannot be applied, or the client must start
   *   over
   * - `closed`: by `close`, or by a sign-out in any tab
   */
  readonly state: 'connecting' | 'online' | 'offline' | 'unauthorized' | 'error' | 'closed';
  /** The reason why the client is not online, and what to do; null if nothing is wrong. */
  readonly error: ClientError | null;
  /** True if the page must reload: another tab has a newer version open, or the server no longer serves this one. */
  readonly outdated: boolean;
  /**
   * Where the data and the pending mutations are:
   * - `saved`: in the local database, so they survive a reload of the page
   * - `saving`: some are only in memory; they are being written
   * - `failing`: some are only in memory, because the database cannot be written; the client keeps retrying
   * - `memory`: all are only in memory, because the database cannot be used or `kvStore` is `mem`
   */
  readonly storage: 'saved' | 'saving' | 'failing' | 'memory';
  /** The reason why the database cannot be used or written, and what to do; null if nothing is wrong. */
  readonly storageError: ClientError | null;
  /** The size of what has arrived of a large first answer to a pull, while it arrives; otherwise null. */
  readonly progress: { readonly bytes: number } | null;
}

/** The operations that can fail: requests, and applying the response to a pull. */
type Kind = 'pull' | 'push' | 'apply';

const unserved = 'version-not-supported';

/** The status of a client that has just been created. */
export const initialStatus: Status = {
  state: 'connecting',
  error: null,
  outdated: false,
  storage: 'saved',
  storageError: null,
  progress: null,
};

/** Tracks the requests and the storage of a client. */
export class StatusTracker {
  readonly #cell = new Cell<Status>(initialStatus);
  readonly #failures: Partial<Record<Kind, ClientError>> = {};
  #pulled = false;
  #disconnected = false;
  #outdated = false;
  #progress: Status['progress'] = null;
  #storage: Pick<Status, 'storage' | 'storageError'> = { storage: 'saved', storageError: null };
  #final: Pick<Status, 'state' | 'error' | 'outdated'> | undefined;
  readonly #networkChanged = () => this.#update();

  constructor() {
    for (const event of ['online', 'offline']) globalThis.addEventListener?.(event, this.#networkChanged);
  }

  get observable(): Observable<Status> {
    return this.#cell;
  }

  succeeded(kind: Kind): void {
    delete this.#failures[kind];
    this.#pulled ||= kind === 'pull';
    this.#update();
  }

  refused(kind: Kind, url: string, status: number, text: string): void {
    this.failed(kind, refusedRequest(url, status, text));
  }

  lost(kind: Kind, url: string, cause: unknown): void {
    this.failed(kind, unreachable(url, cause));
  }

  failed(kind: Kind, error: ClientError): void {
    this.#failures[kind] = error;
    this.#update();
  }

  /** Records that the application has taken the client off the network, or put it back. */
  setOnline(online: boolean): void {
    this.#disconnected = !online;
    this.#update();
  }

  /** Records that another tab has a newer version of the application open. */
  outdated(): void {
    this.#outdated = true;
    this.#update();
  }

  /** Records how much of a first answer has arrived; null at its end. */
  progress(progress: Status['progress']): void {
    this.#progress = progress;
    this.#update();
  }

  /** Records that some data is only in memory. */
  saving(): void {
    if (this.#storage.storage === 'saved') this.#setStorage('saving', null);
  }

  saved(): void {
    if (this.#storage.storage !== 'memory') this.#setStorage('saved', null);
  }

  /** @param cause why the local database cannot be written */
  notSaved(cause: unknown): void {
    if (this.#storage.storage !== 'memory') this.#setStorage('failing', storageFailed(cause));
  }

  /** @param cause why the local database cannot be used; null if `kvStore` is `mem` */
  inMemory(cause: unknown): void {
    this.#setStorage('memory', cause === null ? null : storageUnavailable(cause));
  }

  #setStorage(storage: Status['storage'], storageError: ClientError | null): void {
    this.#storage = { storage, storageError };
    this.#update();
  }

  /** Records the end of the client. */
  end(state: 'closed' | 'error', error: ClientError | null): void {
    if (this.#final?.state === 'closed') return;
    for (const event of ['online', 'offline']) globalThis.removeEventListener?.(event, this.#networkChanged);
    this.#final = { state, error, outdated: this.#isOutdated };
    this.#update();
  }

  #update(): void {
    const next: Status = { ...(this.#final ?? this.#judge()), ...this.#storage, progress: this.#progress };
    const now = this.#cell.get();
    if (Object.entries(next).some(([name, value]) => value !== now[name as keyof Status])) this.#cell.set(next);
  }

  /** Not permanent: in a rolling deployment, the next server may serve the version that this one does not serve yet. */
  get #isOutdated(): boolean {
    return this.#outdated || this.#failures.pull?.code === unserved || this.#failures.push?.code === unserved;
  }

  #judge(): Pick<Status, 'state' | 'error' | 'outdated'> {
    const error = this.#failures.pull ?? this.#failures.apply ?? this.#failures.push ?? null;
    const outdated = this.#isOutdated;
    if (this.#disconnected || globalThis.navigator?.onLine === false) return { state: 'offline', error, outdated };
    if (!error) return { state: this.#pulled ? 'online' : 'connecting', error, outdated };
    return { state: states[error.code] ?? 'error', error, outdated };
  }
}

const states: Readonly<Record<string, Status['state']>> = {
  unreachable: 'offline',
  timeout: 'offline',
  unauthenticated: 'unauthorized',
  'http-401': 'unauthorized',
};
