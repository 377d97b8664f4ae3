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

/** What is served: requests go to `fetch`, and `close` lets go of everything it holds. */
export interface Service {
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** Ends responses that would never end by themselves. */
  drain?(): void;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly log: Logger;
  /** Default 3000; 0 takes any free port. */
  readonly port?: number | undefined;
  /** Default: all addresses. */
  readonly hostname?: string | undefined;
  /** Milliseconds that running requests have to finish after `stop`. Default 10,000. */
  readonly drainMs?: number | undefined;
  /**
   * Stop on SIGTERM and SIGINT, then end the process; the second signal ends it at once. Under npm, stop with it.
   * Default true.
   */
  readonly signals?: boolean | undefined;
}

export interface Listening {
  /** Without a slash at its end. */
  readonly url: string;
  /**
   * Takes no more requests, lets the running ones finish, then closes the service. Repeated calls wait for the first.
   */
  close(): Promise<void>;
}

/** A request's headers, and the whole request, must arrive within so many milliseconds. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Longer than the idle timeout of the usual load balancers, which would otherwise reuse a connection as it closes. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const SWEEP_MS = 50;
const WATCH_PARENT_MS = 200;

const startedBy = process.ppid;

/** Serves on Node's HTTP server. Resolves when it listens; rejects when it cannot, for example with `EADDRINUSE`. */
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
    // A connection is idle again only when its last response is out.
    server.closeIdleConnections();
    // Browsers open connections ahead of need; to Node, one that has sent nothing yet is not idle.
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
 * npm hands a SIGTERM to the shell that it runs a script in, and that shell to nobody: when it is gone, npm was told to
 * stop. Returns what ends the watch.
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
