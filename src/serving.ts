/** Node's HTTP server for a service, and how it ends. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Connections } from './connections.js';
import { settlesWithin } from './limits/deadline.js';
import type { Logger } from './log.js';

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

/** A request's headers, and the whole request, must arrive within this time. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
/**
 * Longer than the idle timeout of common load balancers. Otherwise one could reuse a connection just as the server
 * closes it.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * How many connections may come at once, as when all clients come back after a restart. If there are more, the system
 * drops their first packets, and their clients try again a second later. So many are the most that Linux lets wait.
 */
const backlog = 4_096;
/** How long a service may take to close. */
export const closeMs = 10_000;
/** How long running requests have to finish. */
export const usualDrainMs = 8_000;
/** How long connections are still accepted after SIGTERM. */
export const usualDrainDelayMs = 1_000;

export interface ServingOptions {
  readonly log: Logger;
  /** Milliseconds that running requests have to finish. Default 8,000. */
  readonly drainMs?: number | undefined;
}

export class Serving {
  readonly server: Server;
  readonly #service: Service;
  readonly #connections: Connections;
  readonly #log: Logger;
  readonly #drainMs: number;
  #stopped: Promise<boolean> | undefined;
  #adopts = false;

  constructor(service: Service, { log, drainMs = usualDrainMs }: ServingOptions) {
    this.#service = service;
    this.#log = log;
    this.#drainMs = drainMs;
    this.server = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    });
    const answer = getRequestListener((request, env) => service.fetch(request, env));
    this.#connections = new Connections(this.server, answer);
  }

  /** Answers what comes over a connection that another process has accepted. */
  adopt(socket: Socket): void {
    // Node's limits of the time for headers and requests begin with this event.
    if (!this.#adopts) this.server.emit('listening');
    this.#adopts = true;
    // A client may end its half with its request.
    socket.allowHalfOpen = true;
    this.server.emit('connection', socket);
  }

  /** Ends the responses that would never end; all others now say that their connection ends with them. */
  announceEnd(): void {
    this.#service.drain?.();
    this.#connections.announceEnd();
  }

  /**
   * Stops in order: says so, stops listening, lets requests finish, closes the service. Further calls wait for the first.
   * @param delayMs for how long connections are still accepted
   * @returns whether everything ended in time
   */
  stop(delayMs = 0): Promise<boolean> {
    this.#stopped ??= this.#stop(delayMs);
    return this.#stopped;
  }

  async #stop(delayMs: number): Promise<boolean> {
    this.announceEnd();
    if (delayMs > 0) await sleep(delayMs);
    const cutOff = await this.#connections.end(this.#drainMs);
    if (cutOff.length > 0) {
      this.#log.warn(
        { count: cutOff.length, requests: [...new Set(cutOff)] },
        'Requests that took too long were cut off',
      );
    }
    const isClosed = await settlesWithin(closeMs, this.#service.close());
    if (!isClosed) this.#log.warn({}, 'What the service holds could not be closed in time');
    return cutOff.length === 0 && isClosed;
  }
}

/**
 * Has a server listen, and returns its URL, without a trailing slash. Rejects if it cannot listen, for example with
 * `EADDRINUSE`.
 */
export async function startListening(server: NetServer, port: number, hostname: string | undefined): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: hostname, backlog }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return urlOf(server.address() as AddressInfo);
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '::' || address === '0.0.0.0' ? 'localhost' : address;
  return `http://${family === 'IPv6' && host === address ? `[${host}]` : host}:${port}`;
}
