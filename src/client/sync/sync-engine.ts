import {
  createLogContext,
  type DiffOperation,
  type EngineOptions,
  getKVStoreProvider,
  type LogContext,
  type Puller,
  type Pusher,
  type PushRequest,
  type ReadTransaction,
  ReplicacheImpl,
} from '#engine';
import { startOver } from '../client-error.js';
import { Cell, isolate, type Observable } from '../observable.js';
import type { PendingMutation, StoreProvider } from '../store.js';
import { recoverMutations } from './recovery.js';
import { type RequestOptions, send } from './requests.js';
import type { StatusTracker } from './status.js';
import { unconfirmedKeys } from './unconfirmed.js';

/** What a `SyncEngine` needs besides the engine's options. */
export interface SyncEngineOptions extends RequestOptions {
  readonly status: StatusTracker;
  readonly getAuth?: ReplicacheImpl['getAuth'];
  /** Says how a pushed mutation is called on the server. */
  readonly toServer: (mutation: PendingMutation) => PendingMutation;
}

/**
 * The engine with requests of our own, which tell the status what becomes of them; with its pending mutations as an
 * observable; and with what its package leaves out: sending what earlier versions of the application have left unsent.
 */
export class SyncEngine extends ReplicacheImpl {
  readonly log: LogContext;
  readonly stores: StoreProvider;
  readonly #options: SyncEngineOptions;
  readonly #pending: Cell<readonly PendingMutation[]> = new Cell<readonly PendingMutation[]>([]);
  #tellsUnconfirmed = false;
  readonly #unconfirmed: Cell<ReadonlySet<string>> = new Cell<ReadonlySet<string>>(new Set(), () => {
    this.#tellsUnconfirmed = true;
    void this.#updatePending();
    return () => {
      this.#tellsUnconfirmed = false;
    };
  });
  #recovering: Promise<boolean> | undefined;
  #recovered = false;
  readonly #starting = new Set<Promise<void>>();
  #asked: Promise<void> | undefined;

  constructor(engineOptions: EngineOptions, options: SyncEngineOptions) {
    super(engineOptions);
    this.#options = options;
    this.log = createLogContext(engineOptions.logLevel, engineOptions.logSinks);
    this.stores = getKVStoreProvider(this.log, engineOptions.kvStore);
    // Without an address, the engine's own are kept: they send nothing.
    if (this.pullURL) this.puller = this.#pull(options.status);
    if (this.pushURL) this.pusher = this.#push(options.status);
    const { getAuth } = options;
    if (getAuth) {
      this.getAuth = async () => {
        try {
          return await getAuth();
        } catch (error) {
          this.log.error?.('getAuth failed', error);
          return null;
        }
      };
    }
    this.onUpdateNeeded = ({ type }) => {
      if (type === 'NewClientGroup') options.status.outdated();
    };
    this.onClientStateNotFound = () => this.#lost();
    void this.#updatePending();
  }

  /** The mutations that no pull has confirmed, of all tabs that share this one's data. */
  get pending(): Observable<readonly PendingMutation[]> {
    return this.#pending;
  }

  /**
   * The keys whose values are not the server's, but what pending mutations have made of them. As long as nobody listens,
   * it does not follow each call.
   */
  get unconfirmed(): Observable<ReadonlySet<string>> {
    return this.#unconfirmed;
  }

  /** Calls a mutator. */
  async call(name: string, args: Parameters<ReplicacheImpl['mutate'][string]>[0]): Promise<void> {
    await this.mutate[name]!(args);
    // Comparing takes longer with each pending mutation, so many calls would take very long.
    await this.#updatePending({ compare: this.#tellsUnconfirmed });
  }

  override subscribe<Result>(
    body: (tx: ReadTransaction) => Promise<Result>,
    { onData, onError }: { onData: (result: Result) => void; onError?: ((error: unknown) => void) | undefined },
  ): () => void {
    const run = this.#run();
    const stop = super.subscribe(body, {
      onData: (result) => run.call(() => onData(result)),
      onError: (error) => run.call(() => (onError ? onError(error) : this.log.error?.('A subscription failed', error))),
    });
    return () => run.stop(stop);
  }

  override experimentalWatch(
    callback: (diff: readonly DiffOperation[]) => void,
    options: { readonly prefix: string; readonly initialValuesInFirstDiff?: boolean },
  ): () => void {
    const run = this.#run();
    const stop = super.experimentalWatch((diff) => run.call(() => callback(diff)), options);
    return () => run.stop(stop);
  }

  /** A listener that is not called after it was stopped, and whose first call a `close` waits for. */
  #run(): { call(listener: () => void): void; stop(stop: () => void): void } {
    let active = true;
    let started = () => {};
    const start = new Promise<void>((resolve) => {
      started = resolve;
    });
    this.#starting.add(start);
    void start.then(() => this.#starting.delete(start));
    return {
      call(listener) {
        started();
        if (active) isolate(listener);
      },
      stop(stop) {
        active = false;
        stop();
      },
    };
  }

  override async close(): Promise<void> {
    // The engine would reject their first reads where nobody can catch that.
    await Promise.all(this.#starting);
    await super.close();
  }

  override async maybeEndPull(syncHead: string, requestID: string): Promise<void> {
    await super.maybeEndPull(syncHead, requestID);
    await this.#updatePending();
  }

  override async refresh(): Promise<void> {
    await super.refresh();
    await this.#updatePending();
  }

  /** Whether nothing is left to be sent. Never rejects: what failed is tried again after the next pull. */
  override recoverMutations(): Promise<boolean> {
    if (this.closed || !this.pullURL || !this.pushURL) return Promise.resolve(false);
    this.#recovering ??= recoverMutations(this, this.#pull(), this.#push())
      .catch(() => false)
      .then((recovered) => {
        this.#recovered = recovered;
        this.#recovering = undefined;
        return recovered;
      });
    return this.#recovering;
  }

  #pull(status?: StatusTracker): Puller {
    return async (request, requestID) => {
      const auth = await this.authorization();
      const { pullURL: url } = this;
      // With it, the server tells which mutations it has refused.
      const body = { ...request, refused: true };
      const pulled = await send({ kind: 'pull', url, auth, requestID, body }, this.#options, status);
      if (status && pulled.response && !this.#recovered) void this.recoverMutations();
      if (status?.isPushUnserved && pulled.response) this.push().catch(() => {});
      return pulled;
    };
  }

  #push(status?: StatusTracker): Pusher {
    return async (request: PushRequest, requestID) => {
      const auth = await this.authorization();
      const { pushURL: url } = this;
      const { toServer } = this.#options;
      const mutations = request.mutations.map((mutation) => ({ ...mutation, ...toServer(mutation) }));
      return send({ kind: 'push', url, auth, requestID, body: { ...request, mutations } }, this.#options, status);
    };
  }

  async #updatePending({ compare = true }: { compare?: boolean } = {}): Promise<void> {
    try {
      // Waits until the engine is open.
      await this.query(() => undefined);
      const found = await this.experimentalPendingMutations();
      if (compare) this.#unconfirmed.set(await unconfirmedKeys(this.memdag));
      const known = this.#pending.get();
      const same =
        found.length === known.length &&
        found.every(({ id, clientID }, i) => id === known[i]!.id && clientID === known[i]!.clientID);
      if (!same) this.#pending.set(found.map(this.#options.toServer));
    } catch (error) {
      if (!this.closed) throw error;
    }
  }

  /** The `Authorization`: if there is none, the application is asked for one before the first request. */
  async authorization(): Promise<string> {
    this.#asked ??= (async () => {
      if (!this.auth) this.auth = (await this.getAuth?.()) ?? '';
    })();
    await this.#asked;
    return this.auth;
  }

  /** The server, or this browser, has lost the client's record: only a new client can go on. */
  #lost(): void {
    this.#options.status.end('error', startOver());
    if (globalThis.document) location.reload();
  }
}
