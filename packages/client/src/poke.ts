/** For the browser: pulls when the server pokes. Imports nothing. */

/** The part of a client that `connectPokes` needs. A `Replicache` instance has it. */
export interface PokeTarget {
  readonly clientGroupID: Promise<string>;
  readonly profileID: Promise<string>;
  /** The schema version that the client was built for. */
  readonly schemaVersion: string;
  /** The value of the `Authorization` header; empty for no header. */
  readonly auth?: string | undefined;
  /** Pulls; with `now`, without a delay. */
  pull(options?: { readonly now?: boolean }): unknown;
}

/** The options of `connectPokes`. */
export interface PokeOptions {
  /** The URL of the poke endpoint; it may have a query. Default `/sync/poke`. */
  readonly url?: string | undefined;
  /** The `credentials` option of `fetch`: `include` sends cookies to other origins too. Default `same-origin`. */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * Returns the wants to name when a stream is opened, and calls `onChange` when it should name others: the client then
   * opens a new one, which begins with a poke. Default: none, as for the Replicache client.
   */
  readonly wants?: ((onChange: () => void) => readonly unknown[]) | undefined;
  /**
   * Called once for a response that indicates a setup error: a status from 400 to 499, except those for an expired
   * authorization or too many requests, or a response that is not an event stream. The client still tries again.
   * Default: `console.warn`.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** Half of the pause before a stream with other wants replaces one. */
const changedRetryMs = 50;
/** The server sends a keep-alive comment every 15 seconds. A connection that is silent for this long is dead. */
const silenceMs = 40_000;
/** The maximum text that an XMLHttpRequest receives, in UTF-16 units, because it keeps all of it in memory. */
const maxCollected = 1_000_000;
/** Transient statuses: the client renews its authorization, or waits. */
const transientStatuses = [401, 408, 425, 429];

/**
 * Pulls whenever the server pokes while the page is visible, and once each time the connection is restored or the page
 * becomes visible. The tabs of a client group share a connection, as browsers allow six per server over HTTP/1.1.
 *
 * @returns a function that disconnects
 */
export function connectPokes(
  rep: PokeTarget,
  { url = '/sync/poke', credentials = 'same-origin', wants, onError = warn }: PokeOptions = {},
): () => void {
  const page = globalThis.document;
  const pull = () => forget(rep.pull({ now: true }));
  let controller = new AbortController();
  let lastReason = '';
  const warnOnce = (reason: string) => {
    if (reason !== lastReason) onError(new Error(`No pokes from ${url}: ${reason}. It is tried again`));
    lastReason = reason;
  };

  const listen = async ({ signal }: AbortController) => {
    const [clientGroupID, profileID] = await Promise.all([rep.clientGroupID, rep.profileID]);
    if (signal.aborted) return;
    const query = new URLSearchParams({ clientGroupID, profileID, schemaVersion: rep.schemaVersion });
    const connection = { rep, url: `${url}${url.includes('?') ? '&' : '?'}${query}`, credentials, wants, warnOnce };
    // Only secure contexts have locks; elsewhere, each tab has a connection of its own.
    const locks = globalThis.navigator?.locks;
    if (!locks || !globalThis.BroadcastChannel) return stayConnected(connection, signal);
    const name = `tidemark/${clientGroupID}`;
    const tabs = new BroadcastChannel(name);
    tabs.onmessage = pull;
    signal.onabort = () => tabs.close();
    return locks.request(name, { signal }, () => stayConnected({ ...connection, tabs }, signal));
  };
  const start = () => {
    controller.abort();
    if (page?.hidden) return;
    controller = new AbortController();
    // It fails if it is stopped while it waits for the lock, or if the client cannot be opened.
    listen(controller).catch(() => {});
  };
  const restart = () => {
    start();
    if (!page?.hidden) pull();
  };
  page?.addEventListener('visibilitychange', restart);
  globalThis.addEventListener?.('online', restart);
  start();
  return () => {
    controller.abort();
    page?.removeEventListener('visibilitychange', restart);
    globalThis.removeEventListener?.('online', restart);
  };
}

function warn({ message }: Error): void {
  console.warn(message);
}

/** Ignores rejections: a closed client rejects its outstanding pulls. */
function forget(pulled: unknown): void {
  Promise.resolve(pulled).catch(() => {});
}

/** A connection to the poke endpoint. */
interface Connection {
  readonly rep: PokeTarget;
  readonly url: string;
  readonly credentials: RequestCredentials;
  readonly wants: PokeOptions['wants'];
  /** The other tabs that the connection receives pokes for. */
  readonly tabs?: BroadcastChannel | undefined;
  /** Reports why there are no pokes, each reason only once in a row. */
  readonly warnOnce: (reason: string) => void;
}

/** Pulls, in the other tabs too. */
function pullInAllTabs({ rep, tabs }: Connection): void {
  forget(rep.pull({ now: true }));
  tabs?.postMessage(null);
}

async function stayConnected(connection: Connection, signal: AbortSignal): Promise<void> {
  let retryMs = firstRetryMs;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readPokes(connection, signal, (ms) => {
        retryMs = ms;
        failures = 0;
      });
    } catch (error) {
      // The connection was lost, silent or refused.
      retryMs = Math.min(retryMs * 2, maxRetryMs);
      failures++;
      if (signal.aborted) return;
      // A pull makes the client renew an expired authorization. After the second failure in a row, a pull shows whether
      // the server is reachable at all.
      if ((error as { readonly status?: number }).status === 401) forget(connection.rep.pull());
      else if (failures === 2) pullInAllTabs(connection);
    }
    await pause(retryMs * (0.5 + Math.random()), signal);
  }
}

/**
 * Reads one event stream to its end. Rejects when the connection fails, is refused or stays silent.
 * @param onRetry called with the milliseconds to wait before reconnecting, when the server sends them
 */
async function readPokes(connection: Connection, signal: AbortSignal, onRetry: (ms: number) => void): Promise<void> {
  const { rep, url, credentials, wants, warnOnce } = connection;
  const streamController = new AbortController();
  const abort = () => streamController.abort();
  signal.addEventListener('abort', abort, { signal: streamController.signal });
  let alarm: ReturnType<typeof setTimeout> | undefined;
  const expectMore = () => {
    clearTimeout(alarm);
    alarm = setTimeout(abort, silenceMs);
  };
  const onHead = (status: number, type: string | null) => {
    if (status === 200 && type?.startsWith('text/event-stream')) return;
    if (status < 500 && !transientStatuses.includes(status)) {
      warnOnce(status === 200 ? 'it is no stream of events' : `status ${status}`);
    }
    throw Object.assign(new Error(), { status });
  };
  let partial = '';
  const onText = (text: string) => {
    expectMore();
    const lines = (partial + text).split('\n');
    partial = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('retry:')) onRetry(Number(line.slice(6)));
      if (line.startsWith('data:')) pullInAllTabs(connection);
    }
  };
  const wanted = wants?.(() => {
    onRetry(changedRetryMs);
    abort();
  });
  expectMore();
  try {
    const body = wanted?.length ? JSON.stringify({ wants: wanted }) : null;
    const headers = {
      ...(rep.auth && { Authorization: rep.auth }),
      ...(body && { 'Content-Type': 'application/json' }),
    };
    const method = body ? 'POST' : 'GET';
    await open(url, { method, headers, body, credentials, signal: streamController.signal }, onHead, onText);
  } finally {
    clearTimeout(alarm);
    abort();
  }
}

interface StreamRequest {
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  readonly headers: Record<string, string>;
  readonly credentials: RequestCredentials;
  readonly signal: AbortSignal;
}

/**
 * Reads the text of a response to its end, as it arrives.
 * @param onHead throws if the response is not as expected
 */
type ReadText = (
  url: string,
  request: StreamRequest,
  onHead: (status: number, type: string | null) => void,
  onText: (text: string) => void,
) => Promise<void>;

/** Some environments, such as React Native, do not expose a response as a stream. */
const open: ReadText = (...args) =>
  'body' in (globalThis.Response?.prototype ?? {}) ? readWithFetch(...args) : readWithXHR(...args);

const readWithFetch: ReadText = async (url, request, onHead, onText) => {
  const { status, headers, body } = await fetch(url, { ...request, cache: 'no-store' });
  onHead(status, headers.get('Content-Type'));
  const reader = body!.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onText(decoder.decode(value, { stream: true }));
  }
};

const readWithXHR: ReadText = (url, { method, body, headers, credentials, signal }, onHead, onText) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    let read = 0;
    request.onreadystatechange = () => {
      const { readyState, status, responseText } = request;
      try {
        if (readyState === 2) onHead(status, request.getResponseHeader('Content-Type'));
        if (readyState === 3) onText(responseText.slice(read));
        read = responseText.length;
      } catch (error) {
        reject(error);
        abort();
      }
      if (read > maxCollected) abort();
    };
    // After an error or an abort, there is no status.
    request.onloadend = () => (request.status ? resolve() : reject(new Error()));
    request.open(method, url);
    request.withCredentials = credentials === 'include';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    signal.addEventListener('abort', abort);
    request.send(body);
  });

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    // An aborted signal fires no event. The pause would then hold the lock that the next connection waits for.
    if (signal.aborted) end();
  });
}
