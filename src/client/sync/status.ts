import { type ClientError, refusedRequest, unreachable } from '../client-error.js';
import { Cell, type Observable } from '../observable.js';

/** How a client is connected to its server. */
export interface Status {
  /**
   * - `connecting`: nothing has been pulled yet
   * - `online`: the last requests succeeded
   * - `offline`: the server cannot be reached, the browser has no network, or `setOnline(false)` was called
   * - `unauthorized`: the server does not accept the credentials
   * - `error`: the server refuses requests for another reason, or the client must start over
   * - `closed`: by `close`, or by a sign-out in any tab
   */
  readonly state: 'connecting' | 'online' | 'offline' | 'unauthorized' | 'error' | 'closed';
  /** Why it is not online, and what to do; null if nothing is wrong. */
  readonly error: ClientError | null;
  /** Whether a newer version of the application is open in another tab, or this one is no longer served: reload. */
  readonly outdated: boolean;
}

type Kind = 'pull' | 'push';

const unserved = 'version-not-supported';

/** Follows the requests of a client. */
export class StatusTracker {
  readonly #cell = new Cell<Status>({ state: 'connecting', error: null, outdated: false });
  readonly #failures: Partial<Record<Kind, ClientError>> = {};
  #pulled = false;
  #disconnected = false;
  #outdated = false;
  #final: Status | undefined;
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

  /** That the application has taken it off the network, or put it back. */
  setOnline(online: boolean): void {
    this.#disconnected = !online;
    this.#update();
  }

  /** That a newer version of the application is open in another tab. */
  outdated(): void {
    this.#outdated = true;
    this.#update();
  }

  /** That nothing more will happen. */
  end(state: 'closed' | 'error', error: ClientError | null): void {
    if (this.#final?.state === 'closed') return;
    for (const event of ['online', 'offline']) globalThis.removeEventListener?.(event, this.#networkChanged);
    this.#final = { state, error, outdated: this.#isOutdated };
    this.#update();
  }

  #update(): void {
    const next = this.#final ?? this.#judge();
    const now = this.#cell.get();
    if (next.state !== now.state || next.error !== now.error || next.outdated !== now.outdated) this.#cell.set(next);
  }

  /** Whether the last push was refused by a server that does not serve the version: the engine takes it for sent. */
  get isPushUnserved(): boolean {
    return this.#failures.push?.code === unserved;
  }

  /** In a rolling deployment, the next server may serve the version that this one does not serve yet. */
  get #isOutdated(): boolean {
    return this.#outdated || this.#failures.pull?.code === unserved || this.isPushUnserved;
  }

  #judge(): Status {
    const error = this.#failures.pull ?? this.#failures.push ?? null;
    const outdated = this.#isOutdated;
    if (this.#disconnected || globalThis.navigator?.onLine === false) return { state: 'offline', error, outdated };
    if (!error) return { state: this.#pulled ? 'online' : 'connecting', error, outdated };
    return { state: states[error.code] ?? 'error', error, outdated };
  }
}

const states: Readonly<Record<string, Status['state']>> = {
  unreachable: 'offline',
  unauthenticated: 'unauthorized',
  'http-401': 'unauthorized',
};
