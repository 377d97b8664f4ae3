import { IDBDatabasesStore } from '#engine';
import type { SyncEngine } from './sync/sync-engine.js';

/** How long a sign-out waits for the other tabs to close, in milliseconds. Those that hang are not waited for. */
const tabsMs = 5_000;

/** The clients of one user in this browser profile: a sign-out in one tab ends all, and deletes what they share. */
export class Tabs {
  readonly #name: string;
  readonly #channel: BroadcastChannel | undefined;
  #left: (() => void) | undefined;

  /** @param onSignOut called when the user signs out in another tab */
  constructor(name: string, onSignOut: () => void) {
    this.#name = `tidemark/tabs/${name}`;
    // Where there are no tabs, there are no channels.
    if (globalThis.BroadcastChannel) {
      this.#channel = new BroadcastChannel(this.#name);
      this.#channel.onmessage = onSignOut;
    }
    const open = new Promise<void>((resolve) => {
      this.#left = resolve;
    });
    // Only secure contexts have locks.
    globalThis.navigator?.locks?.request(this.#name, { mode: 'shared' }, () => open).catch(() => {});
  }

  /** That this client has closed. */
  leave(): void {
    this.#channel?.close();
    this.#left?.();
  }

  /** Has the other tabs close, and waits until they have. */
  async closeOthers(): Promise<void> {
    if (!this.#channel) return;
    const channel = new BroadcastChannel(this.#name);
    channel.postMessage('sign-out');
    const signal = AbortSignal.timeout(tabsMs);
    await globalThis.navigator?.locks?.request(this.#name, { signal }, () => {}).catch(() => {});
    channel.close();
  }
}

/** Deletes all databases of a user, those of other schema versions too. The engine must be closed. */
export async function eraseDatabases({ name, stores }: SyncEngine): Promise<void> {
  const databases = new IDBDatabasesStore(stores.create);
  try {
    const all = Object.values(await databases.getDatabases());
    const names = all.filter(({ replicacheName }) => replicacheName === name).map((database) => database.name);
    for (const database of names) await stores.drop(database);
    await databases.deleteDatabases(names);
  } finally {
    await databases.close();
  }
}
