import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { describeError, type Logger } from './log.js';

export {
  addressFromEnvironment,
  forwardFromEnvironment,
  type ListenAddress,
  logFromEnvironment,
  type OpenDatabaseOptions,
  type OpenedDatabase,
  openDatabase,
} from './environment.js';
export { explainFailure } from './failure.js';

/** What `listen` serves, for example a `Sync`. */
export interface Service {
  /** Answers a request. `env` is what the runtime's adapter passes on. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** Ends the responses that would otherwise never end. */
  drain?(): void;
  /** Releases everything that the service holds. */
  close(): Promise<void>;
}

/** The options of `listen`. */
export interface ListenOptions {
  /** Where log lines go. */
  readonly log: Logger;
  /** The port to listen on; 0 takes any free one. Default 3000. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: all addresses. */
  readonly hostname?: string | undefined;
  /** Milliseconds that running requests have to finish after `close` is called. Default 10,000. */
  readonly drainMs?: number | undefined;
  /**
   * Stop on SIGTERM and SIGINT, then end the process. A second signal ends it at once. If npm runs the process, it also
   * stops when npm is told to. Default true.
   */
  readonly signals?: boolean | undefined;
}

/** A server that listens. */
export interface Listening {
  /** The server's URL, without a trailing slash. */
  readonly url: string;
  /**
   * Stops accepting requests, lets the running ones finish, then closes the service. Further calls wait for the first.
   */
  close(): Promise<void>;
}

/** A request's headers, and the whole request, must arrive within this time. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
/**
 * Longer than the idle timeout of common load balancers. Otherwise one could reuse a connection just as the server
 * closes it.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const SWEEP_MS = 50;
const WATCH_PARENT_MS = 200;

const startedBy = process.ppid;

/**
 * Serves on Node's HTTP server. Resolves once it is listening, and rejects if it cannot listen, for example with
 * `EADDRINUSE`.
 */
export async function listen(service: Service, options: ListenOptions): Promise<Listening> {
  const { log, port = 3000, hostname, drainMs = 10_000, signals = true } = options;
  const server = createAdaptorServer({
    fetch: (request, env) => service.fetch(request, env),
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    },
  }) as Server;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const url = urlOf(server.address() as AddressInfo);
  log.info({ url }, 'Listening');

  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= drain({ server, sockets }, service, drainMs).then(() => service.close());
    return stopped;
  };
  if (!signals) return { url, close: stop };
  const ignoreSignals = stopOnSignals(stop, log);
  return { url, close: () => stop().finally(ignoreSignals) };
}

async function drain(
  { server, sockets }: { readonly server: Server; readonly sockets: ReadonlySet<Socket> },
  service: Service,
  drainMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  service.drain?.();
  const closeIdle = () => {
    // A connection becomes idle only when its last response has been sent.
    server.closeIdleConnections();
    // Browsers open connections in advance. Node does not count one as idle that has not sent anything yet.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  closeIdle();
  const sweep = setInterval(closeIdle, SWEEP_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

function stopOnSignals(stop: () => Promise<void>, log: Logger): () => void {
  let signalled = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (signalled) process.exit(1);
    signalled = true;
    log.info({ signal }, 'Stopping');
    try {
      await stop();
      process.exit(0);
    } catch (error) {
      log.error({ error: describeError(error) }, 'Stopping failed');
      process.exit(1);
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const unwatch = onNpmGone(() => onSignal('SIGTERM'));
  return () => {
    unwatch();
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  };
}

/**
 * npm passes a SIGTERM on to the shell in which it runs a script, but that shell does not pass it on: if the shell is
 * gone, npm was told to stop. Returns a function that ends the watch.
 */
function onNpmGone(stop: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const watch = setInterval(() => {
    if (process.ppid === startedBy) return;
    clearInterval(watch);
    stop();
  }, WATCH_PARENT_MS).unref();
  return () => clearInterval(watch);
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '::' || address === '0.0.0.0' ? 'localhost' : address;
  return `http://${family === 'IPv6' && host === address ? `[${host}]` : host}:${port}`;
}
