import {
  type Commit,
  commitFromHash,
  commitFromHead,
  type LocalMeta,
  type ReplicacheImpl,
  type Store,
  withRead,
} from '#engine';
import { Cell, type Observable } from '../observable.js';
import type { PendingMutation } from '../stores/types.js';
import { UnconfirmedKeys } from './unconfirmed.js';

/** The pending mutations of a client group, and what they have changed, as observables. */
export class PendingMutations {
  readonly #engine: Pick<ReplicacheImpl, 'query'>;
  readonly #reader: PendingReader;
  readonly #cell = new Cell<readonly PendingMutation[]>([]);
  readonly #unconfirmed: UnconfirmedKeys;
  #hasEnded = false;

  /**
   * @param toServer says how a mutation is called on the server
   * @param onListener called when somebody begins to listen for unconfirmed keys
   */
  constructor(
    engine: Pick<ReplicacheImpl, 'query' | 'memdag'>,
    toServer: (mutation: PendingMutation) => PendingMutation,
    onListener: () => void,
  ) {
    this.#engine = engine;
    this.#reader = new PendingReader(engine.memdag, toServer);
    this.#unconfirmed = new UnconfirmedKeys(engine.memdag, onListener);
  }

  get observable(): Observable<readonly PendingMutation[]> {
    return this.#cell;
  }

  get unconfirmed(): Observable<ReadonlySet<string>> {
    return this.#unconfirmed.observable;
  }

  get now(): readonly PendingMutation[] {
    return this.#cell.get();
  }

  /** Reads them again: all, or after calls of this client, what these have added. */
  async update(after: 'calls' | 'other changes'): Promise<void> {
    // Waits until the engine is open.
    await this.#engine.query(() => undefined);
    await this.#reader.read();
    await (after === 'calls' ? this.#unconfirmed.addCalls() : this.#unconfirmed.compare());
    // Another update may have read newer ones in the meantime.
    if (!this.#hasEnded) this.#cell.set(this.#reader.latest);
  }

  /** That there are none any more. */
  end(): void {
    this.#hasEnded = true;
    this.#cell.set([]);
    this.#unconfirmed.end();
  }
}

/** Reads the pending mutations of a store. After a call, it reads what is new alone. */
class PendingReader {
  readonly #store: Store;
  readonly #toServer: (mutation: PendingMutation) => PendingMutation;
  /** The state that was read last. */
  #head = '';
  #pending: readonly PendingMutation[] = [];

  /** @param toServer says how a mutation is called on the server */
  constructor(store: Store, toServer: (mutation: PendingMutation) => PendingMutation) {
    this.#store = store;
    this.#toServer = toServer;
  }

  /** What was read last, the oldest first: the same array until they have changed. */
  get latest(): readonly PendingMutation[] {
    return this.#pending;
  }

  async read(): Promise<void> {
    await withRead(this.#store, async (read) => {
      const head = await commitFromHead('main', read);
      const added: PendingMutation[] = [];
      let commit: Commit = head;
      while (commit.chunk.hash !== this.#head && isLocal(commit.meta)) {
        const { mutationID: id, clientID, mutatorName: name, mutatorArgsJSON: args, basisHash } = commit.meta;
        added.push(this.#toServer({ id, clientID, name, args }));
        commit = await commitFromHash(basisHash, read);
      }
      const known = commit.chunk.hash === this.#head ? this.#pending : [];
      const found = added.length === 0 ? known : [...known, ...added.reverse()];
      this.#head = head.chunk.hash;
      if (!areSame(found, this.#pending)) this.#pending = found;
    });
  }
}

function isLocal(meta: Commit['meta']): meta is LocalMeta {
  return meta.type === 4;
}

function areSame(some: readonly PendingMutation[], others: readonly PendingMutation[]): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  return some.every(({ id, clientID }, i) => id === others[i]!.id && clientID === others[i]!.clientID);
}
