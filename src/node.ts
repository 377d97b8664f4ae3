import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Connections } from './connections.js';
import { settlesWithin } from './limits/deadline.js';
import { describeError, type Logger } from './log.js';

export {
  addressFromEnvironment,
  describeEmbedded,
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
  /** Called when the server is about to stop: ends the responses that would otherwise never end. */
  drain?(): void;
  /** Releases everything that the service holds. */
  close(): Promise<void>;
  /** Resolves with the reason when the service can no longer work. The server then stops, as at a signal. */
  readonly lost?: Promise<Error> | undefined;
}

/** The options of `listen`. */
export interface ListenOptions {
  /** Where log lines go. */
  readonly log: Logger;
  /** The port to listen on; 0 takes any free one. Default 3000. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: all addresses. */
  readonly hostname?: string | undefined;
  /** Milliseconds that running requests have to finish when the server stops. The rest is cut off. Default 8,000. */
  readonly drainMs?: number | undefined;
  /**
   * Milliseconds for which the server still accepts connections after SIGTERM, while `/readyz` returns 503: load
   * balancers then send the requests elsewhere. Default 1,000.
   */
  readonly drainDelayMs?: number | undefined;
  /**
   * Stop on SIGTERM and SIGINT, then end the process: with status 0 if everything ended in time, otherwise with 1. A
   * second signal ends it at once. If npm runs the process, it also stops when npm is told to. Default true.
   */
  readonly signals?: boolean | undefined;
}

/** A server that listens. */
export interface Listening {
  /** The server's URL, without a trailing slash. */
  readonly url: string;
  /** Node's server, for what else its port serves, such as WebSockets. They are cut off when it stops. */
  readonly server: Server;
  /**
   * Stops accepting requests, lets the running ones finish for `drainMs`, then closes the service for ten seconds at
   * most. Further calls wait for the first.
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
/** How long the service may take to close. */
const CLOSE_MS = 10_000;
const WATCH_PARENT_MS = 200;

const startedBy = process.ppid;

/**
 * Serves on Node's HTTP server. Resolves once it is listening, and rejects if it cannot listen, for example with
 * `EADDRINUSE`.
 */
export async function listen(service: Service, options: ListenOptions): Promise<Listening> {
  const { log, port = 3000, hostname, drainMs = 8_000, drainDelayMs = 1_000, signals = true } = options;
  const server = createAdaptorServer({
    fetch: (request, env) => service.fetch(request, env),
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    },
  }) as Server;
  const connections = new Connections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const url = urlOf(server.address() as AddressInfo);
  log.info({ url }, 'Listening');

  let stopped: Promise<boolean> | undefined;
  const stop = (delayMs = 0) => {
    stopped ??= stopServing(service, connections, { log, delayMs, drainMs });
    return stopped;
  };
  const ignoreSignals = signals
    ? stopOnSignals((signal) => stop(signal === 'SIGTERM' ? drainDelayMs : 0), service, log)
    : () => {};
  const close = async () => void (await stop());
  return { url, server, close: () => close().finally(ignoreSignals) };
}

/**
 * Stops in order: says so, stops listening, lets requests finish, closes the service.
 * @returns whether everything ended in time
 */
async function stopServing(
  service: Service,
  connections: Connections,
  { log, delayMs, drainMs }: { readonly log: Logger; readonly delayMs: number; readonly drainMs: number },
): Promise<boolean> {
  service.drain?.();
  connections.announceEnd();
  if (delayMs > 0) await sleep(delayMs);
  const cutOff = await connections.end(drainMs);
  if (cutOff.length > 0) {
    log.warn({ count: cutOff.length, requests: [...new Set(cutOff)] }, 'Requests that took too long were cut off');
  }
  const isClosed = await settlesWithin(CLOSE_MS, service.close());
  if (!isClosed) log.warn({}, 'What the service holds could not be closed in time');
  return cutOff.length === 0 && isClosed;
}

/** Stops at a signal, or when the service is lost. Then ends the process: with status 1 if not all is well. */
function stopOnSignals(
  stop: (signal?: NodeJS.Signals) => Promise<boolean>,
  { lost }: Service,
  log: Logger,
): () => void {
  let isStopping = false;
  const end = async (signal?: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'Stopping');
    const isWell = await stop(signal).catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'Stopping failed');
      return false;
    });
    process.exit(isWell && signal !== undefined ? 0 : 1);
  };
  const onSignal = (signal: NodeJS.Signals) => (isStopping ? process.exit(1) : end(signal));
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const unwatch = onNpmGone(() => end('SIGTERM'));
  lost?.then((error) => {
    log.error({ error: describeError(error) }, 'The service cannot go on');
    return end();
  });
  return () => {
    isStopping = true;
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
