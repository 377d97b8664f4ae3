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
import { type ClientError, callTooLarge, closedClient, signedOut, startOver } from '../client-error.js';
import type { Observable } from '../observable.js';
import type { Stores } from '../stores/open-stores.js';
import type { PendingMutation } from '../stores/types.js';
import { Answered } from '../wants/answered.js';
import type { Wants } from '../wants/wants.js';
import { within } from '../within.js';
import { Applying } from './applying.js';
import { Credentials, type GetAuth } from './credentials.js';
import { Outbox } from './outbox.js';
import { PendingMutations } from './pending.js';
import { Recoveries } from './recovery.js';
import type { RequestOptions } from './requests.js';
import { Saving } from './saving.js';
import { createPuller, createPusher, type Sender } from './senders.js';
import type { StatusTracker } from './status.js';
import { Subscriptions } from './subscriptions.js';

/** The longest wait for each step of a shutdown, in milliseconds. */
const maxShutdownMs = 5_000;
/** With more pending mutations, a poke's pull waits for the current batch: each pull reruns all of them. */
const manyPending = 200;
/** The pause before a pull for what the last one could not bring, in milliseconds. */
const repeatMs = 1_000;

/** The options of a `SyncEngine` besides those of the engine. */
export interface SyncEngineOptions extends RequestOptions {
  readonly status: StatusTracker;
  readonly getAuth?: GetAuth | undefined;
  /** The instances to pull besides the views without arguments. Without this option, pulls are those of Replicache. */
  readonly wants?: Wants | undefined;
}

/**
 * The engine with the client's own requests, which report their results to the status. Adds the pending mutations as an
 * observable, and sends mutations that earlier versions of the application have left unsent, which the package omits.
 */
export class SyncEngine extends ReplicacheImpl {
  readonly log: LogContext;
  readonly stores: Stores;
  readonly subscriptions: Subscriptions;
  readonly answered: Answered | undefined;
  readonly #options: SyncEngineOptions;
  readonly #pending: PendingMutations;
  readonly #saving: Saving;
  readonly #outbox = new Outbox();
  readonly #credentials: Credentials;
  readonly #sender: Sender;
  readonly #recoveries: Recoveries;
  readonly #applying: Applying;
  readonly #calls = new Set<Promise<unknown>>();
  /** True if the client's record is lost. */
  #isLost = false;
  /** The error of every call after the end. */
  #endError: ClientError | undefined;

  constructor(engineOptions: EngineOptions & { readonly kvStore: Stores }, options: SyncEngineOptions) {
    super(engineOptions);
    this.#options = options;
    this.log = createLogContext(engineOptions.logLevel, engineOptions.logSinks);
    this.stores = engineOptions.kvStore;
    this.subscriptions = new Subscriptions(this, this.log);
    this.#pending = new PendingMutations(this, () => void this.#updatePending());
    this.#applying = new Applying(options.status);
    this.#saving = new Saving(options.status, () => this.persist());
    this.#credentials = new Credentials(this, options.getAuth, this.log);
    this.#sender = { engine: this, credentials: this.#credentials, outbox: this.#outbox, options };
    this.#recoveries = new Recoveries(this, this.#sender);
    const report: Applying['report'] = (applying) => this.#applying.report(applying);
    this.answered = options.wants && new Answered(options.wants, (body) => this.query(body), report);
    // Without a URL, the engine keeps its own puller and pusher, which send nothing.
    if (this.pullURL) {
      const onPulled = () => this.#recoveries.hasSucceeded || this.recoverMutations();
      this.puller = createPuller(this.#sender, options.status, onPulled, this.answered);
    }
    if (this.pushURL) this.pusher = createPusher(this.#sender, options.status, () => this.#endPush());
    if (options.getAuth) this.getAuth = () => this.#credentials.renew();
    this.onUpdateNeeded = ({ type }) => {
      if (type === 'NewClientGroup') options.status.outdated();
    };
    this.onClientStateNotFound = () => void this.#lost();
    void this.#updatePending();
  }

  protected override async opening(open: () => Promise<void>): Promise<void> {
    // The engine's constructor calls this before this class has set its fields.
    await Promise.resolve();
    await this.stores.opening(open);
  }

  /** The mutations that no pull has confirmed, from all tabs that share this tab's data. */
  get pending(): Observable<readonly PendingMutation[]> {
    return this.#pending.observable;
  }

  /** The keys whose values pending mutations have changed, so that they differ from the server's. */
  get unconfirmed(): Observable<ReadonlySet<string>> {
    return this.#pending.unconfirmed;
  }

  /**
   * Calls a mutator. Rejects only if the mutation is not recorded.
   * @returns the ID of the mutation
   * @throws ClientError once the client is closed, and every error of the mutator
   */
  async call(name: string, args: Parameters<ReplicacheImpl['mutate'][string]>[0]): Promise<number> {
    if (this.#endError) throw this.#endError;
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
    return (await call) as number;
  }

  /** @throws ClientError once the client is closed */
  override async query<Result>(body: (tx: ReadTransaction) => Promise<Result> | Result): Promise<Result> {
    if (this.#endError) throw this.#endError;
    return super.query(body);
  }

  /** @throws ClientError once the client is closed */
  override async pull(options?: { readonly now?: boolean | undefined }): Promise<void> {
    if (this.#endError) throw this.#endError;
    await super.pull(options);
  }

  /** Closes the client. Waits for calls that have begun, and stores their mutations. */
  override async close(): Promise<void> {
    await this.#finish(closedClient());
    await this.#keep();
    await this.#stop();
  }

  /** Closes the client without storing anything. Subscriptions stop showing its data. */
  async signOut(): Promise<void> {
    this.#pending.end();
    const emptied = within(this.subscriptions.end(), maxShutdownMs).catch((error: unknown) => {
      this.log.error?.('Something of the user’s may still be shown', error);
    });
    await this.#finish(signedOut());
    await emptied;
    await this.#stop();
  }

  /** @param error the error of later calls */
  async #finish(error: ClientError): Promise<void> {
    this.#endError ??= error;
    // A mutator of the application may never end.
    await within(Promise.allSettled(this.#calls), maxShutdownMs).catch(() => {});
  }

  async #stop(): Promise<void> {
    this.#saving.end();
    await super.close();
  }

  /** Stores the data that is only in memory. The engine does so up to 1.5 seconds after a call. */
  async #keep(): Promise<void> {
    await within(this.persist(), maxShutdownMs).catch((error: unknown) => {
      this.log.error?.('The last changes could not be stored in this browser', error);
    });
  }

  override async persist(): Promise<void> {
    await this.#saving.save(async () => {
      await super.persist();
      // Without the client's record, the engine stores nothing and does not report that here.
      if (this.#isLost) throw startOver();
    });
  }

  /** Lets other tasks of the page run before each pending mutation reruns on newer data. */
  async betweenRepeats({ dbtx }: WriteTransaction): Promise<void> {
    await nextTurn(dbtx.map._dagRead.kvWrite);
  }

  /** Pulls. With many pending mutations, first waits for the current batch, so that the pull can confirm it. */
  async pullWhenPushed(): Promise<void> {
    if (this.#pending.now.length > manyPending) await this.#outbox.batchSent();
    await this.pull({ now: true });
  }

  override async beginPull(): ReturnType<ReplicacheImpl['beginPull']> {
    this.#outbox.beginPull();
    const begun = await this.#applying.report(super.beginPull());
    if (begun.ok && begun.syncHead === emptyHash) {
      this.#endPull(!this.answered?.mayLack);
      if (this.answered?.mayLack) setTimeout(() => this.pullMissing(), repeatMs);
    }
    return begun;
  }

  override async maybeEndPull(syncHead: string, requestID: string): Promise<void> {
    await this.#applying.report(super.maybeEndPull(syncHead, requestID));
    this.#saving.pulled();
    await this.#updatePending();
    this.#endPull(true);
    if (this.answered?.hasLater) this.#send('pull');
  }

  /** Pulls if something is wanted that is neither here nor on its way. Never rejects. */
  async pullMissing(): Promise<void> {
    // Reads fail when the client is closing.
    if (await this.answered?.isMissing().catch(() => false)) this.#send('pull');
  }

  /** Loads what other tabs have stored, which may lack what this tab wants. */
  override async refresh(): Promise<void> {
    await super.refresh();
    await this.#updatePending();
    this.#pushUnacknowledged();
    await this.pullMissing();
  }

  #endPull(isApplied: boolean): void {
    this.#applying.succeeded();
    this.#outbox.endPull();
    this.answered?.endPull(isApplied);
    this.#pushUnacknowledged();
  }

  #endPush(): void {
    this.#forgetConfirmed();
    // The engine would back off as if it could not reach the server.
    if (this.#outbox.wasOvertaken && this.#pending.now.length > 0) this.#send('push');
  }

  /** Clears a push failure once pulls have confirmed all mutations, because that push is not sent again. */
  #forgetConfirmed(): void {
    if (this.#pending.now.length === 0) this.#options.status.succeeded('push');
  }

  /**
   * Pushes mutations that the engine would push later or not at all: those that another tab has left, and those that
   * wait for a retry although the server is reachable again.
   */
  #pushUnacknowledged(): void {
    const ms = this.#outbox.dueIn(this.#pending.now);
    if (ms === 0) this.#send('push');
    else if (ms !== null) setTimeout(() => this.#pushUnacknowledged(), ms);
  }

  /** Pulls and pushes pending mutations immediately, because the network or the user is back. */
  resume(): void {
    if (this.#pending.now.length > 0) this.#send('push');
    this.#send('pull');
  }

  #send(kind: 'push' | 'pull'): void {
    if (this.#endError) return;
    // The status shows the error.
    super[kind]({ now: true }).catch(() => {});
  }

  /** Resolves to true if no mutations of other versions are left. Never rejects: the next pull retries. */
  override recoverMutations(): Promise<boolean> {
    if (this.closed || !this.pullURL || !this.pushURL) return Promise.resolve(false);
    return this.#recoveries.run();
  }

  async #updatePending(after: 'calls' | 'other changes' = 'other changes'): Promise<void> {
    try {
      await this.#pending.update(after);
      this.#forgetConfirmed();
    } catch (error) {
      if (!this.#endError) this.log.error?.('Cannot read the pending mutations', error);
    }
  }

  /** Returns the `Authorization` of the next request. */
  authorization(): Promise<string> {
    return this.#credentials.get();
  }

  /** Ends a client whose record is lost. If only the browser has lost it, the server still takes pending mutations. */
  async #lost(): Promise<void> {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.status.end('error', startOver());
    if (this.#pending.now.length > 0) await within(super.push({ now: true }), maxShutdownMs).catch(() => {});
    if (globalThis.document) location.reload();
  }
}
