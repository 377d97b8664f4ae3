/** For the browser: pulls when the server says that something has changed. Imports nothing. */

/** What pokes need of a client; a `Replicache` has it. */
export interface PokeTarget {
  readonly clientGroupID: Promise<string>;
  readonly profileID: Promise<string>;
  readonly schemaVersion: string;
  readonly auth: string;
  pull(options?: { readonly now?: boolean }): unknown;
}

export interface PokeOptions {
  /** The poke endpoint. Default `/sync/poke`. */
  readonly url?: string;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** The server sends something every 15 seconds; a connection that is silent for longer is dead. */
const silenceMs = 40_000;

/**
 * Pulls whenever the server pokes, while the page is visible, and once each time that the connection or the page comes back.
 * Tabs of one client group share a connection: browsers allow six to a server over HTTP/1.1.
 *
 * @returns what ends it
 */
export function connectPokes(rep: PokeTarget, { url = '/sync/poke' }: PokeOptions = {}): () => void {
  const page = globalThis.document;
  const pull = () => forget(rep.pull({ now: true }));
  let turn = new AbortController();

  const start = async ({ signal }: AbortController) => {
    const [clientGroupID, profileID] = await Promise.all([rep.clientGroupID, rep.profileID]);
    if (signal.aborted) return;
    const name = `tidemark/${clientGroupID}`;
    const tabs = new BroadcastChannel(name);
    tabs.onmessage = pull;
    signal.onabort = () => tabs.close();
    const query = new URLSearchParams({ clientGroupID, profileID, schemaVersion: rep.schemaVersion });
    const listen = () =>
      stayConnected(rep, `${url}?${query}`, signal, () => {
        pull();
        tabs.postMessage(null);
      });
    // Only secure contexts have locks; elsewhere each tab listens for itself.
    const locks = globalThis.navigator?.locks;
    await (locks ? locks.request(name, { signal }, listen).catch(() => {}) : listen());
  };
  const restart = () => {
    turn.abort();
    if (page?.hidden) return;
    turn = new AbortController();
    start(turn);
    pull();
  };
  page?.addEventListener('visibilitychange', restart);
  globalThis.addEventListener?.('online', restart);
  if (!page?.hidden) start(turn);
  return () => {
    turn.abort();
    page?.removeEventListener('visibilitychange', restart);
    globalThis.removeEventListener?.('online', restart);
  };
}

/** A client that is closed rejects the pulls that it still owes. */
function forget(pulled: unknown): void {
  Promise.resolve(pulled).catch(() => {});
}

async function stayConnected(rep: PokeTarget, url: string, signal: AbortSignal, onPoke: () => void): Promise<void> {
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    try {
      await readPokes(rep, url, signal, {
        onPoke,
        onRetry(ms) {
          retryMs = ms;
        },
      });
    } catch {
      // Lost, silent or refused: a pull would say why, and renews an authorization that has expired.
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
    // Once aborted, a signal says no more that it is: a pause would hold the lock that the next turn waits for.
    if (!signal.aborted) await pause(retryMs * (0.5 + Math.random()), signal);
  }
}

interface Events {
  readonly onPoke: () => void;
  /** The time to wait before connecting again. */
  readonly onRetry: (ms: number) => void;
}

/** Reads one event stream to its end. */
async function readPokes(
  rep: PokeTarget,
  url: string,
  signal: AbortSignal,
  { onPoke, onRetry }: Events,
): Promise<void> {
  const silent = new AbortController();
  let alarm = setTimeout(() => silent.abort(), silenceMs);
  try {
    const headers = { Authorization: rep.auth };
    const response = await fetch(url, { headers, signal: AbortSignal.any([signal, silent.signal]), cache: 'no-store' });
    if (response.status === 401) forget(rep.pull());
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(alarm);
      alarm = setTimeout(() => silent.abort(), silenceMs);
      const lines = (rest + value).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith('retry:')) onRetry(Number(line.slice(6)));
        if (line.startsWith('data:')) onPoke();
      }
    }
  } finally {
    clearTimeout(alarm);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
