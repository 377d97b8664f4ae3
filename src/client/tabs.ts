/** The longest that a sign-out waits for the other tabs to close, in milliseconds. Those that hang are not waited for. */
const maxTabsMs = 5_000;

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

  /** Has the other tabs close, and waits for that. Returns true if all are known to have closed. */
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
