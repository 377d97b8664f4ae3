/**
 * Deletes the data of users who have signed out. If a sign-out cannot delete everything, because a tab does not respond
 * or the page is closed, the next start of a client deletes the rest.
 */
import { IDBDatabasesStore } from '#engine';
import { within } from '../within.js';
import { indexedDBStores } from './indexed-db.js';
import { clearDatabase } from './indexed-db-database.js';
import { localStorageIfAny } from './local-storage.js';
import type { StoreProvider } from './types.js';

/** The longest wait for IndexedDB, in milliseconds. */
const maxEraseMs = 5_000;

/** The prefix of the keys in `localStorage` that name users whose data must still be deleted. */
const markPrefix = 'tidemark/signed-out/';

/** Marks a user's data in IndexedDB, so that the next start deletes it unless `eraseIndexedDB` does so earlier. */
export function markSignedOut(name: string): void {
  try {
    localStorageIfAny()?.setItem(markPrefix + name, '');
  } catch {
    // The mark cannot be stored, so only this page can delete the data.
  }
}

/** Deletes data that sign-outs have left behind. Waits only for the data of the user who is about to use the client. */
export async function finishSignOuts(name: string): Promise<void> {
  // The next start retries a deletion that fails.
  for (const other of markedNames()) if (other !== name) eraseIndexedDB(other, false, isMarked).catch(() => {});
  if (isMarked(name)) await eraseIndexedDB(name, false, isMarked);
}

/**
 * Deletes a user's databases in IndexedDB, including those of other schema versions.
 * @param othersClosed true if no other tab has them open. Otherwise, they are only emptied.
 * @param isDue returns false if another tab has already deleted them
 * @throws Error named `TimeoutError` if an unresponsive tab blocks the deletion, and every error of IndexedDB
 */
export async function eraseIndexedDB(
  name: string,
  othersClosed: boolean,
  isDue: (name: string) => boolean = () => true,
): Promise<void> {
  const late = new AbortController();
  const erasing = exclusively(name, async () => {
    if (!isDue(name)) return;
    await (othersClosed ? dropStores(indexedDBStores, name) : clearIndexedDB(name, late.signal));
    localStorageIfAny()?.removeItem(markPrefix + name);
  });
  try {
    await within(erasing, maxEraseMs);
  } finally {
    late.abort();
  }
}

/** Deletes all stores of a user. */
export async function dropStores({ create, drop }: StoreProvider, name: string): Promise<void> {
  await withDatabases(create, name, async (databases, names) => {
    for (const database of names) await drop(database);
    await databases.deleteDatabases(names);
  });
}

async function clearIndexedDB(name: string, signal: AbortSignal): Promise<void> {
  await withDatabases(indexedDBStores.create, name, async (_, names) => {
    for (const database of names) await clearDatabase(database, signal);
  });
}

/** Calls `body` with the engine's list of databases, and the names of the user's databases. */
async function withDatabases(
  create: StoreProvider['create'],
  name: string,
  body: (databases: IDBDatabasesStore, names: readonly string[]) => Promise<void>,
): Promise<void> {
  const databases = new IDBDatabasesStore(create);
  try {
    const all = Object.values(await databases.getDatabases());
    const own = all.filter(({ replicacheName }) => replicacheName === name);
    await body(
      databases,
      own.map((database) => database.name),
    );
  } finally {
    await databases.close();
  }
}

function markedNames(): readonly string[] {
  const keys = Object.keys(localStorageIfAny() ?? {}).filter((key) => key.startsWith(markPrefix));
  return keys.map((key) => key.slice(markPrefix.length));
}

function isMarked(name: string): boolean {
  return localStorageIfAny()?.getItem(markPrefix + name) != null;
}

/** Runs a function in one tab at a time, except in insecure contexts, which have no locks. */
async function exclusively(name: string, run: () => Promise<void>): Promise<void> {
  const { locks } = globalThis.navigator ?? {};
  await (locks ? locks.request(`tidemark/erase/${name}`, run) : run());
}
