import type { Server } from 'node:http';
import { type Logger, resolveLogger } from './log.js';
import { type Service, Serving, startListening, usualDrainDelayMs } from './serving.js';
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

/**
 * Serves on Node's HTTP server. Resolves once it is listening, and rejects if it cannot listen, for example with
 * `EADDRINUSE`.
 */
export async function listen(service: Service, options: ListenOptions): Promise<Listening> {
  const { port = 3000, hostname, drainMs, drainDelayMs = usualDrainDelayMs, signals = true } = options;
  const log = resolveLogger(options.log);
  const serving = new Serving(service, { log, drainMs });
  const { server } = serving;
  const url = await startListening(server, port, hostname);
  log.info({ url }, 'Listening');
  const stop = (signal?: NodeJS.Signals) => serving.stop(signal === 'SIGTERM' ? drainDelayMs : 0);
  const ignoreSignals = signals ? stopOnSignals({ stop, lost: service.lost, log }) : () => {};
  const close = async () => void (await serving.stop());
  return { url, server, close: () => close().finally(ignoreSignals) };
}
