/** The longest wait of a sign-out for the other tabs to close, in milliseconds. Tabs may hang. */
const maxTabsMs = 5_000;

/** The clients of one user in this browser profile. A sign-out in one tab ends all of them and deletes their data. */
export class Tabs {
  readonly #name: string;
  readonly #channel: BroadcastChannel | undefined;
  #releaseLock: (() => void) | undefined;

  /** @param onSignOut called when the user signs out in another tab */
  constructor(name: string, onSignOut: () => void) {
    this.#name = `tidemark/tabs/${name}`;
    // Environments without tabs have no BroadcastChannel.
    if (globalThis.BroadcastChannel) {
      this.#channel = new BroadcastChannel(this.#name);
      this.#channel.onmessage = onSignOut;
    }
    const open = new Promise<void>((resolve) => {
      this.#releaseLock = resolve;
    });
    // Only secure contexts have locks.
    globalThis.navigator?.locks?.request(this.#name, { mode: 'shared' }, () => open).catch(() => {});
  }

  /** Stops listening for sign-outs, and releases the lock that other tabs wait for. */
  close(): void {
    this.#channel?.close();
    this.#releaseLock?.();
  }

  /** Tells the other tabs to close, and waits for them. Returns false if some may still be open. */
  async closeOthers(): Promise<boolean> {
    if (!this.#channel) return true;
    const channel = new BroadcastChannel(this.#name);
    channel.postMessage('sign-out');
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), maxTabsMs);
    try {
      const { locks } = globalThis.navigator ?? {};
      return (await locks?.request(this.#name, { signal: late.signal }, () => true)) ?? false;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      channel.close();
    }
  }
}
