/**
 * Sends mutations that earlier versions of the application have left unsent. Versions with other mutators or indexes
 * have their client groups in the same database. Versions with another schema version have a separate database.
 */
import {
  assertHash,
  beginPullV1,
  type ClientGroup,
  clientGroupHasPendingMutations,
  getClientGroups,
  IDBDatabasesStore,
  LazyStore,
  type LogContext,
  newRandomHash,
  newRequestID,
  type Puller,
  type Pusher,
  push,
  type ReplicacheImpl,
  type Store,
  StoreImpl,
  setClientGroup,
  withRead,
  withWrite,
} from '#engine';
import type { StoreProvider } from '../stores/types.js';
import { createPuller, createPusher, type Sender } from './senders.js';

/** The supported format of the engine's databases. Other databases are left alone. */
const format = 7;
const mainHead = 'main';
/** The maximum amount of another group's data in memory during recovery, in bytes. */
const cacheBytes = 10 * 2 ** 20;

/** The engine that sends the mutations. */
export interface Recoverer
  extends Pick<
    ReplicacheImpl,
    'name' | 'idbName' | 'schemaVersion' | 'clientID' | 'clientGroupID' | 'profileID' | 'perdag' | 'closed'
  > {
  readonly stores: StoreProvider;
  readonly log: LogContext;
}

interface Recovery {
  readonly engine: Recoverer;
  readonly puller: Puller;
  readonly pusher: Pusher;
}

/** Runs recoveries, one at a time. */
export class Recoveries {
  readonly #engine: Recoverer;
  readonly #sender: Sender;
  #current: Promise<boolean> | undefined;
  /** True if the last one has left nothing that a retry could send soon. */
  hasSucceeded = false;

  constructor(engine: Recoverer, sender: Sender) {
    this.#engine = engine;
    this.#sender = sender;
  }

  /** Starts a recovery, unless one is running. Never rejects. */
  run(): Promise<boolean> {
    this.#current ??= recoverMutations(this.#engine, createPuller(this.#sender), createPusher(this.#sender))
      .catch(() => false)
      .then((hasSucceeded) => {
        this.hasSucceeded = hasSucceeded;
        this.#current = undefined;
        return hasSucceeded;
      });
    return this.#current;
  }
}

/** @returns true if nothing is left that a retry could send soon */
async function recoverMutations(engine: Recoverer, puller: Puller, pusher: Pusher): Promise<boolean> {
  const recovery = { engine, puller, pusher };
  let recovered = await recoverFrom(recovery, engine.perdag, engine.schemaVersion);
  const databases = new IDBDatabasesStore(engine.stores.create);
  try {
    for (const database of Object.values(await databases.getDatabases())) {
      if (engine.closed) return false;
      const { name, replicacheName, replicacheFormatVersion, schemaVersion } = database;
      const isForeign = replicacheName !== engine.name || replicacheFormatVersion !== format;
      if (isForeign || name === engine.idbName) continue;
      const store = new StoreImpl(engine.stores.create(name), newRandomHash, assertHash);
      try {
        recovered = (await recoverFrom(recovery, store, schemaVersion)) && recovered;
      } finally {
        await store.close();
      }
    }
  } finally {
    await databases.close();
  }
  return recovered;
}

async function recoverFrom(recovery: Recovery, store: Store, schemaVersion: string): Promise<boolean> {
  const ownGroupID = await recovery.engine.clientGroupID;
  let recovered = true;
  for (const [id, group] of await withRead(store, getClientGroups)) {
    if (recovery.engine.closed) return false;
    if (id === ownGroupID || group.disabled || !clientGroupHasPendingMutations(group)) continue;
    recovered = (await recoverGroup(recovery, store, schemaVersion, id, group)) && recovered;
  }
  return recovered;
}

/** Pushes a group's unsent mutations, pulls to learn which ones the server has applied, and stores that. */
async function recoverGroup(
  { engine, puller, pusher }: Recovery,
  store: Store,
  schemaVersion: string,
  id: string,
  group: ClientGroup,
): Promise<boolean> {
  const { clientID, log } = engine;
  const profileID = await engine.profileID;
  const copy = new LazyStore(store, cacheBytes, newRandomHash, assertHash);
  await withWrite(copy, (write) => write.setHead(mainHead, group.headHash));
  const pushed = await push(newRequestID(clientID), copy, log, profileID, id, clientID, pusher, schemaVersion, 1);
  if (pushed && pushed.httpRequestInfo.httpStatusCode !== 200) return false;
  if (pushed?.response) {
    log.error?.(`Mutations of the schema version "${schemaVersion}" are still unsent: the server does not take them`);
    return true;
  }
  const { pullResponse } = await beginPullV1(
    profileID,
    clientID,
    id,
    schemaVersion,
    puller,
    newRequestID(clientID),
    copy,
    format,
    log,
    false,
  );
  const applied = (pullResponse as { lastMutationIDChanges?: Record<string, number> } | undefined)
    ?.lastMutationIDChanges;
  if (!applied) return false;
  return withWrite(store, async (write) => {
    const current = (await getClientGroups(write)).get(id);
    if (!current) return true;
    const lastServerAckdMutationIDs = { ...current.lastServerAckdMutationIDs, ...applied };
    const next = { ...current, lastServerAckdMutationIDs };
    await setClientGroup(id, next, write);
    return !clientGroupHasPendingMutations(next);
  });
}
