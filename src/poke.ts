/** For the browser: pulls when the server pokes. Imports nothing. */

/** What `connectPokes` needs of a client. A `Replicache` has all of it. */
export interface PokeTarget {
  readonly clientGroupID: Promise<string>;
  readonly profileID: Promise<string>;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
  /** Sent as the `Authorization` header. */
  readonly auth: string;
  /** Pulls, with `now` without a delay. */
  pull(options?: { readonly now?: boolean }): unknown;
}

/** The options of `connectPokes`. */
export interface PokeOptions {
  /** The URL of the poke endpoint. Default `/sync/poke`. */
  readonly url?: string | undefined;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** The server sends a heartbeat every 15 seconds: a connection that is silent for this long is dead. */
const silenceMs = 40_000;

/**
 * Pulls whenever the server pokes, as long as the page is visible, and once each time the connection or the page comes
 * back. The tabs of a client group share one connection: over HTTP/1.1, browsers allow six per server.
 *
 * @returns a function that stops it
 */
export function connectPokes(rep: PokeTarget, { url = '/sync/poke' }: PokeOptions = {}): () => void {
  const page = globalThis.document;
  const pull = () => forget(rep.pull({ now: true }));
  let turn = new AbortController();

  const listen = async ({ signal }: AbortController) => {
    const [clientGroupID, profileID] = await Promise.all([rep.clientGroupID, rep.profileID]);
    if (signal.aborted) return;
    const query = new URLSearchParams({ clientGroupID, profileID, schemaVersion: rep.schemaVersion });
    const stay = (onPoke: () => void) => stayConnected(rep, `${url}?${query}`, signal, onPoke);
    // Only secure contexts have locks; elsewhere, each tab has a connection of its own.
    const locks = globalThis.navigator?.locks;
    if (!locks) return stay(pull);
    const name = `tidemark/${clientGroupID}`;
    const tabs = new BroadcastChannel(name);
    tabs.onmessage = pull;
    signal.onabort = () => tabs.close();
    return locks.request(name, { signal }, () =>
      stay(() => {
        pull();
        tabs.postMessage(null);
      }),
    );
  };
  const start = () => {
    turn.abort();
    if (page?.hidden) return;
    turn = new AbortController();
    // It was stopped while it waited for the lock, or the client could not be opened.
    listen(turn).catch(() => {});
  };
  const restart = () => {
    start();
    if (!page?.hidden) pull();
  };
  page?.addEventListener('visibilitychange', restart);
  globalThis.addEventListener?.('online', restart);
  start();
  return () => {
    turn.abort();
    page?.removeEventListener('visibilitychange', restart);
    globalThis.removeEventListener?.('online', restart);
  };
}

/** Ignores rejections: a client that is closed rejects its outstanding pulls. */
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
      // The connection was lost, silent or refused.
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
    await pause(retryMs * (0.5 + Math.random()), signal);
  }
}

interface Events {
  readonly onPoke: () => void;
  /** Reports the milliseconds to wait before connecting again, as the server sends them. */
  readonly onRetry: (ms: number) => void;
}

/** Reads one event stream to its end. Rejects when the connection fails, is refused or stays silent. */
async function readPokes(
  rep: PokeTarget,
  url: string,
  signal: AbortSignal,
  { onPoke, onRetry }: Events,
): Promise<void> {
  const attempt = new AbortController();
  let alarm: ReturnType<typeof setTimeout> | undefined;
  const expectMore = () => {
    clearTimeout(alarm);
    alarm = setTimeout(() => attempt.abort(), silenceMs);
  };
  expectMore();
  try {
    const headers = { Authorization: rep.auth };
    const response = await fetch(url, {
      headers,
      signal: AbortSignal.any([signal, attempt.signal]),
      cache: 'no-store',
    });
    if (response.status === 401) forget(rep.pull());
    if (!response.ok) throw new Error(`${response.status}`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let partial = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      expectMore();
      const lines = (partial + value).split('\n');
      partial = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith('retry:')) onRetry(Number(line.slice(6)));
        if (line.startsWith('data:')) onPoke();
      }
    }
  } finally {
    clearTimeout(alarm);
    attempt.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    // A signal that is already aborted fires no event: the pause would keep the lock that the next turn waits for.
    if (signal.aborted) end();
  });
}
