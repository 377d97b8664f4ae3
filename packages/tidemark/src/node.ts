import type { Server } from 'node:http';
import { type Logger, resolveLogger } from './log.js';
import { defaultDrainDelayMs, type Service, Serving, startListening } from './serving.js';
import { stopOnSignals } from './signals.js';

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
export type { Service } from './serving.js';

/** The options of `listen`. */
export interface ListenOptions {
  /** Where log lines go. */
  readonly log: Logger;
  /** The port to listen on; 0 takes any free one. Default 3000. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: all addresses. */
  readonly hostname?: string | undefined;
  /** Milliseconds that running requests have to finish before a stopping server cuts them off. Default 8,000. */
  readonly drainMs?: number | undefined;
  /**
   * Milliseconds for which the server still accepts connections after SIGTERM, while `/readyz` returns 503, so that
   * load balancers send requests elsewhere. Default 1,000.
   */
  readonly drainDelayMs?: number | undefined;
  /**
   * Stop on SIGTERM and SIGINT, then exit: with status 0 if everything ended in time, otherwise with 1. A second signal
   * exits immediately. If npm runs the process, it also stops when npm receives SIGTERM. Default true.
   */
  readonly signals?: boolean | undefined;
}

/** A listening server. */
export interface Listening {
  /** The server's URL, without a trailing slash. */
  readonly url: string;
  /** Node's server, for other protocols on its port, such as WebSockets. Stopping cuts them off. */
  readonly server: Server;
  /**
   * Stops accepting requests, waits up to `drainMs` for the running ones, then up to ten seconds for the service to
   * close. Further calls wait for the first.
   */
  close(): Promise<void>;
}

/**
 * Serves requests with Node's HTTP server. Resolves once the server listens, and rejects if it cannot, for example with
 * `EADDRINUSE`.
 */
export async function listen(service: Service, options: ListenOptions): Promise<Listening> {
  const { port = 3000, hostname, drainMs, drainDelayMs = defaultDrainDelayMs, signals = true } = options;
  const log = resolveLogger(options.log);
  const serving = new Serving(service, { log, drainMs });
  const { server } = serving;
  const url = await startListening(server, port, hostname);
  log.info({ url }, 'Listening');
  const ignoreSignals = signals ? stopOnSignals(serving, { drainDelayMs, lost: service.lost, log }) : () => {};
  const close = async () => void (await serving.stop());
  return { url, server, close: () => close().finally(ignoreSignals) };
}
