import {
  createLogContext,
  type EngineOptions,
  emptyHash,
  type LogContext,
  nextTurn,
  type ReadTransaction,
  ReplicacheImpl,
  type WriteTransaction,
} from '#engine';
import { type ClientError, callTooLarge, closedClient, notApplied, signedOut, startOver } from '../client-error.js';
import type { Observable } from '../observable.js';
import type { Stores } from '../stores/open-stores.js';
import type { PendingMutation } from '../stores/types.js';
import { within } from '../within.js';
import { Credentials, type GetAuth } from './credentials.js';
import { Outbox } from './outbox.js';
import { PendingMutations } from './pending.js';
import { recoverMutations } from './recovery.js';
import { Saving } from './saving.js';
import { createPuller, createPusher, type Sender, type SenderOptions } from './senders.js';
import type { StatusTracker } from './status.js';
import { Subscriptions } from './subscriptions.js';

/** The longest wait, at the end, for the store, and for the server, in milliseconds. */
const maxKeepingMs = 5_000;
/** How many pending mutations are many: each pull repeats all of them. */
const manyPending = 200;

/** What a `SyncEngine` needs besides the engine's options. */
export interface SyncEngineOptions extends SenderOptions {
  readonly status: StatusTracker;
  readonly getAuth?: GetAuth | undefined;
}

/**
 * The engine with requests of our own, which tell the status what becomes of them; with its pending mutations as an
 * observable; and with what its package leaves out: sending what earlier versions of the application have left unsent.
 */
export class SyncEngine extends ReplicacheImpl {
  readonly log: LogContext;
  readonly stores: Stores;
  readonly subscriptions: Subscriptions;
  readonly #options: SyncEngineOptions;
  readonly #pending: PendingMutations;
  readonly #saving: Saving;
  readonly #outbox = new Outbox();
  readonly #credentials: Credentials;
  readonly #sender: Sender;
  #recovering: Promise<boolean> | undefined;
  #recovered = false;
  /** How many pulls in a row could not be applied. */
  #notApplied = 0;
  readonly #calls = new Set<Promise<void>>();
  /** True if the client's record is lost. */
  #isLost = false;
  /** Why every call is rejected. */
  #ended: ClientError | undefined;

  constructor(engineOptions: EngineOptions & { readonly kvStore: Stores }, options: SyncEngineOptions) {
    super(engineOptions);
    this.#options = options;
    this.log = createLogContext(engineOptions.logLevel, engineOptions.logSinks);
    this.stores = engineOptions.kvStore;
    this.subscriptions = new Subscriptions(this, this.log);
    this.#pending = new PendingMutations(this, options.toServer, () => void this.#updatePending());
    this.#saving = new Saving(options.status, () => this.persist());
    this.#credentials = new Credentials(this, options.getAuth, this.log);
    this.#sender = { engine: this, credentials: this.#credentials, outbox: this.#outbox, options };
    // Without an address, the engine's own are kept: they send nothing.
    if (this.pullURL) this.puller = createPuller(this.#sender, options.status, () => void this.#recoverOnce());
    if (this.pushURL) this.pusher = createPusher(this.#sender, options.status, () => this.#endPush());
    if (options.getAuth) this.getAuth = () => this.#credentials.renew();
    this.onUpdateNeeded = ({ type }) => {
      if (type === 'NewClientGroup') options.status.outdated();
    };
    this.onClientStateNotFound = () => void this.#lost();
    void this.#updatePending();
  }

  protected override async opening(open: () => Promise<void>): Promise<void> {
    // The engine's constructor calls this before ours has set its fields.
    await Promise.resolve();
    await this.stores.opening(open);
  }

  /** The mutations that no pull has confirmed, of all tabs that share this one's data. */
  get pending(): Observable<readonly PendingMutation[]> {
    return this.#pending.observable;
  }

  /** The keys whose values are not the server's, but what pending mutations have made of them. */
  get unconfirmed(): Observable<ReadonlySet<string>> {
    return this.#pending.unconfirmed;
  }

  /**
   * Calls a mutator. Rejects only if the call is not kept.
   * @throws ClientError once the client is closed, and what the mutator throws
   */
  async call(name: string, args: Parameters<ReplicacheImpl['mutate'][string]>[0]): Promise<void> {
    if (this.#ended) throw this.#ended;
    if (this.#outbox.isTooLarge(args)) throw callTooLarge();
    const call = this.mutate[name]!(args);
    this.#calls.add(call);
    try {
      await call;
    } finally {
      this.#calls.delete(call);
    }
    this.#saving.changed();
    await this.#updatePending('calls');
  }

  /** @throws ClientError once the client is closed */
  override async query<Result>(body: (tx: ReadTransaction) => Promise<Result> | Result): Promise<Result> {
    if (this.#ended) throw this.#ended;
    return super.query(body);
  }

  /** @throws ClientError once the client is closed */
  override async pull(options?: { readonly now?: boolean | undefined }): Promise<void> {
    if (this.#ended) throw this.#ended;
    await super.pull(options);
  }

  /** Closes the client. Calls that have begun are finished and kept. */
  override async close(): Promise<void> {
    await this.#finish(closedClient());
    await this.#keep();
    await this.#stop();
  }

  /** Closes the client, and keeps nothing. Nothing of its data is shown any more. */
  async signOut(): Promise<void> {
    this.#pending.end();
    const emptied = within(this.subscriptions.end(), maxKeepingMs).catch((error: unknown) => {
      this.log.error?.('Something of the user’s may still be shown', error);
    });
    await this.#finish(signedOut());
    await emptied;
    await this.#stop();
  }

  /** @param error with which later calls are rejected */
  async #finish(error: ClientError): Promise<void> {
    this.#ended ??= error;
    // A mutator of the application's may never end.
    await within(Promise.allSettled(this.#calls), maxKeepingMs).catch(() => {});
  }

  async #stop(): Promise<void> {
    this.#saving.end();
    await super.close();
  }

  /** Writes to the store what is only in memory, as the engine does up to a second and a half after a call. */
  async #keep(): Promise<void> {
    await within(this.persist(), maxKeepingMs).catch((error: unknown) => {
      this.log.error?.('The last changes could not be kept in this browser', error);
    });
  }

  override async persist(): Promise<void> {
    await this.#saving.save(async () => {
      await super.persist();
      // The engine stores nothing without the client's record, and does not say so here.
      if (this.#isLost) throw startOver();
    });
  }

  /** Called before each pending mutation is repeated on newer data: gives other tasks of the page their turn. */
  async betweenRepeats({ dbtx }: WriteTransaction): Promise<void> {
    await nextTurn(dbtx.map._dagRead.kvWrite);
  }

  /** Pulls, but while many mutations are being pushed, not before those of this batch can be confirmed. */
  async pullWhenPushed(): Promise<void> {
    if (this.#pending.now.length > manyPending) await this.#outbox.batchSent();
    await this.pull({ now: true });
  }

  override async beginPull(): ReturnType<ReplicacheImpl['beginPull']> {
    this.#outbox.beginPull();
    const begun = await this.#applying(super.beginPull());
    if (begun.ok && begun.syncHead === emptyHash) this.#endPull();
    return begun;
  }

  override async maybeEndPull(syncHead: string, requestID: string): Promise<void> {
    await this.#applying(super.maybeEndPull(syncHead, requestID));
    this.#saving.pulled();
    await this.#updatePending();
    this.#endPull();
  }

  /**
   * Tells the status of a pull that was answered and cannot be applied, if the one before could not either: another tab
   * may have stored newer data during one.
   */
  async #applying<Result>(pulling: Promise<Result>): Promise<Result> {
    try {
      return await pulling;
    } catch (error) {
      // The status knows already that there was no response.
      const wasAnswered = (error as Error).name !== 'PullError';
      if (wasAnswered && ++this.#notApplied > 1) this.#options.status.failed('apply', notApplied(error));
      throw error;
    }
  }

  /** Takes over what other tabs have stored. */
  override async refresh(): Promise<void> {
    await super.refresh();
    await this.#updatePending();
    this.#pushUnacknowledged();
  }

  #endPull(): void {
    this.#notApplied = 0;
    this.#options.status.succeeded('apply');
    this.#outbox.endPull();
    this.#pushUnacknowledged();
  }

  #endPush(): void {
    this.#forgetConfirmed();
    // The engine would wait as if the server could not be reached.
    if (this.#outbox.wasOvertaken && this.#pending.now.length > 0) this.#send('push');
  }

  /** A push that failed is not sent again if a pull has confirmed it: its failure means nothing any more. */
  #forgetConfirmed(): void {
    if (this.#pending.now.length === 0) this.#options.status.succeeded('push');
  }

  /**
   * Pushes what the engine would push later, or not at all: what another tab has left, and what is waiting for another
   * try although the server can be reached again.
   */
  #pushUnacknowledged(): void {
    const ms = this.#outbox.dueIn(this.#pending.now);
    if (ms === 0) this.#send('push');
    else if (ms !== null) setTimeout(() => this.#pushUnacknowledged(), ms);
  }

  /** Asks the server at once, and sends what is pending: the network is back, or the user. */
  resume(): void {
    if (this.#pending.now.length > 0) this.#send('push');
    this.#send('pull');
  }

  #send(kind: 'push' | 'pull'): void {
    if (this.#ended) return;
    // The status says what fails.
    super[kind]({ now: true }).catch(() => {});
  }

  /** Whether nothing is left to be sent. Never rejects: what failed is tried again after the next pull. */
  override recoverMutations(): Promise<boolean> {
    if (this.closed || !this.pullURL || !this.pushURL) return Promise.resolve(false);
    this.#recovering ??= recoverMutations(this, createPuller(this.#sender), createPusher(this.#sender))
      .catch(() => false)
      .then((recovered) => {
        this.#recovered = recovered;
        this.#recovering = undefined;
        return recovered;
      });
    return this.#recovering;
  }

  async #recoverOnce(): Promise<void> {
    if (!this.#recovered) await this.recoverMutations();
  }

  async #updatePending(after: 'calls' | 'other changes' = 'other changes'): Promise<void> {
    try {
      await this.#pending.update(after);
      this.#forgetConfirmed();
    } catch (error) {
      if (!this.#ended) this.log.error?.('Cannot read the pending mutations', error);
    }
  }

  /** The `Authorization` of the next request. */
  authorization(): Promise<string> {
    return this.#credentials.get();
  }

  /** The client's record is lost: only a new client can go on. If it is this browser's, the server takes what is pending. */
  async #lost(): Promise<void> {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.status.end('error', startOver());
    if (this.#pending.now.length > 0) await within(super.push({ now: true }), maxKeepingMs).catch(() => {});
    if (globalThis.document) location.reload();
  }
}
