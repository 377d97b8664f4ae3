import {
  type Commit,
  commitFromHash,
  commitFromHead,
  type LocalMeta,
  type ReplicacheImpl,
  type Store,
  withRead,
} from '#engine';
import { toServer } from '../mutate.js';
import { Cell, type Observable } from '../observable.js';
import type { PendingMutation } from '../stores/types.js';
import { UnconfirmedKeys } from './unconfirmed.js';

/** The pending mutations of a client group, and the keys that they have changed, as observables. */
export class PendingMutations {
  readonly #engine: Pick<ReplicacheImpl, 'query'>;
  readonly #reader: PendingReader;
  readonly #cell = new Cell<readonly PendingMutation[]>([]);
  readonly #unconfirmed: UnconfirmedKeys;
  #hasEnded = false;

  /** @param onListener called when `unconfirmed` gets its first listener */
  constructor(engine: Pick<ReplicacheImpl, 'query' | 'memdag'>, onListener: () => void) {
    this.#engine = engine;
    this.#reader = new PendingReader(engine.memdag);
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

  /** Reads the mutations again. After calls of this client, the unconfirmed keys need no full comparison. */
  async update(after: 'calls' | 'other changes'): Promise<void> {
    // Waits until the engine is open.
    await this.#engine.query(() => undefined);
    await this.#reader.read();
    await (after === 'calls' ? this.#unconfirmed.addCalls() : this.#unconfirmed.compare());
    // Another update may have read newer mutations in the meantime.
    if (!this.#hasEnded) this.#cell.set(this.#reader.latest);
  }

  /** Empties both observables permanently. */
  end(): void {
    this.#hasEnded = true;
    this.#cell.set([]);
    this.#unconfirmed.end();
  }
}

/** Reads the pending mutations of a store. After a call, it reads only the new ones. */
class PendingReader {
  readonly #store: Store;
  /** The hash of the state that was read last. */
  #head = '';
  #pending: readonly PendingMutation[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** The mutations that were read last, oldest first: the same array until they change. */
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
        added.push(toServer({ id, clientID, name, args }));
        commit = await commitFromHash(basisHash, read);
      }
      const previous = commit.chunk.hash === this.#head ? this.#pending : [];
      const current = added.length === 0 ? previous : [...previous, ...added.reverse()];
      this.#head = head.chunk.hash;
      if (!areSame(current, this.#pending)) this.#pending = current;
    });
  }
}

function isLocal(meta: Commit['meta']): meta is LocalMeta {
  return meta.type === 4;
}

function areSame(one: readonly PendingMutation[], other: readonly PendingMutation[]): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  return one.every(({ id, clientID }, i) => id === other[i]!.id && clientID === other[i]!.clientID);
}
