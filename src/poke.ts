/** For the browser: pulls when the server pokes. Imports nothing. */

/** What `connectPokes` needs of a client. A `Replicache` has all of it. */
export interface PokeTarget {
  readonly clientGroupID: Promise<string>;
  readonly profileID: Promise<string>;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
  /** Sent as the `Authorization` header, unless it is empty. */
  readonly auth?: string | undefined;
  /** Pulls, with `now` without a delay. */
  pull(options?: { readonly now?: boolean }): unknown;
}

/** The options of `connectPokes`. */
export interface PokeOptions {
  /** The URL of the poke endpoint; it may have a query. Default `/sync/poke`. */
  readonly url?: string | undefined;
  /** Whether cookies are sent, as `fetch` takes it; to another origin, `include` sends them. Default `same-origin`. */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * Learns, once, of a response that says that something is set up wrongly: a status from 400 to 499, other than those
   * of an expired authorization and of too many requests, or what is no stream of events. It is tried again all the
   * same. Default: `console.warn`.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** The server sends a heartbeat every 15 seconds: a connection that is silent for this long is dead. */
const silenceMs = 40_000;
/** The longest text that an XMLHttpRequest collects, in UTF-16 units. It keeps all that has come. */
const maxCollected = 1_000_000;
/** Statuses that may pass by themselves: the client gets another authorization, or waits. */
const passing = [401, 408, 425, 429];

/**
 * Pulls whenever the server pokes, as long as the page is visible, and once each time the connection or the page comes
 * back. The tabs of a client group share one connection: over HTTP/1.1, browsers allow six per server.
 *
 * @returns a function that stops it
 */
export function connectPokes(
  rep: PokeTarget,
  { url = '/sync/poke', credentials = 'same-origin', onError = warn }: PokeOptions = {},
): () => void {
  const page = globalThis.document;
  let told = '';
  const tell = (why: string) => {
    if (why === told) return;
    told = why;
    onError(new Error(`No pokes from ${url}: ${why}. It is tried again`));
  };
  const pull = () => forget(rep.pull({ now: true }));
  let turn = new AbortController();

  const listen = async ({ signal }: AbortController) => {
    const [clientGroupID, profileID] = await Promise.all([rep.clientGroupID, rep.profileID]);
    if (signal.aborted) return;
    const query = new URLSearchParams({ clientGroupID, profileID, schemaVersion: rep.schemaVersion });
    const connect = { rep, url: `${url}${url.includes('?') ? '&' : '?'}${query}`, credentials, tell };
    const stay = (onPoke: () => void) => stayConnected({ ...connect, onPoke }, signal);
    // Only secure contexts have locks; elsewhere, each tab has a connection of its own.
    const locks = globalThis.navigator?.locks;
    if (!locks || !globalThis.BroadcastChannel) return stay(pull);
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

function warn({ message }: Error): void {
  console.warn(message);
}

/** Ignores rejections: a client that is closed rejects its outstanding pulls. */
function forget(pulled: unknown): void {
  Promise.resolve(pulled).catch(() => {});
}

/** What is connected to, and who learns of what comes. */
interface Connection {
  readonly rep: PokeTarget;
  readonly url: string;
  readonly credentials: RequestCredentials;
  readonly onPoke: () => void;
  /** Is told why the server refuses, if that does not pass by itself. */
  readonly tell: (why: string) => void;
}

async function stayConnected(connection: Connection, signal: AbortSignal): Promise<void> {
  let retryMs = firstRetryMs;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await readPokes(connection, signal, (ms) => {
        retryMs = ms;
      });
      failures = 0;
    } catch (error) {
      // The connection was lost, silent or refused.
      retryMs = Math.min(retryMs * 2, longestRetryMs);
      failures++;
      if (signal.aborted) return;
      // A pull has the client renew an expired authorization. If the connection cannot be made again, a pull shows whether
      // the server can be reached at all.
      if ((error as { readonly status?: number }).status === 401) forget(connection.rep.pull());
      else if (failures === 2) connection.onPoke();
    }
    await pause(retryMs * (0.5 + Math.random()), signal);
  }
}

/**
 * Reads one event stream to its end. Rejects when the connection fails, is refused or stays silent.
 * @param onRetry is told the milliseconds to wait before connecting again, as the server sends them
 */
async function readPokes(
  { rep, url, credentials, onPoke, tell }: Connection,
  signal: AbortSignal,
  onRetry: (ms: number) => void,
): Promise<void> {
  const attempt = new AbortController();
  const abort = () => attempt.abort();
  signal.addEventListener('abort', abort, { signal: attempt.signal });
  let alarm: ReturnType<typeof setTimeout> | undefined;
  const expectMore = () => {
    clearTimeout(alarm);
    alarm = setTimeout(abort, silenceMs);
  };
  const onHead = (status: number, type: string | null) => {
    if (status === 200 && type?.startsWith('text/event-stream')) return;
    if (status < 500 && !passing.includes(status))
      tell(status === 200 ? 'it is no stream of events' : `status ${status}`);
    throw Object.assign(new Error(), { status });
  };
  let partial = '';
  const onText = (text: string) => {
    expectMore();
    const lines = (partial + text).split('\n');
    partial = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('retry:')) onRetry(Number(line.slice(6)));
      if (line.startsWith('data:')) onPoke();
    }
  };
  expectMore();
  try {
    const headers = rep.auth ? { Authorization: rep.auth } : {};
    await open(url, { headers, credentials, signal: attempt.signal }, onHead, onText);
  } finally {
    clearTimeout(alarm);
    abort();
  }
}

interface StreamRequest {
  readonly headers: Record<string, string>;
  readonly credentials: RequestCredentials;
  readonly signal: AbortSignal;
}

/**
 * Reads the text of a response as it comes, to its end.
 * @param onHead throws if the response is not what is expected
 */
type ReadText = (
  url: string,
  request: StreamRequest,
  onHead: (status: number, type: string | null) => void,
  onText: (text: string) => void,
) => Promise<void>;

/** Some environments, such as React Native, do not give a response as a stream. */
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

const readWithXHR: ReadText = (url, { headers, credentials, signal }, onHead, onText) =>
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
    // After an error and an abort, there is no status.
    request.onloadend = () => (request.status ? resolve() : reject(new Error()));
    request.open('GET', url);
    request.withCredentials = credentials === 'include';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    signal.addEventListener('abort', abort);
    request.send();
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
    // A signal that is already aborted fires no event: the pause would keep the lock that the next turn waits for.
    if (signal.aborted) end();
  });
}
