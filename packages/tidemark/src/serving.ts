/** Runs a service on Node's HTTP server, and shuts it down. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Connections } from './connections.js';
import { settlesWithin } from './limits/deadline.js';
import type { Logger } from './log.js';

/** A service that `listen` serves, for example a `Sync`. */
export interface Service {
  /** Answers a request. The runtime's adapter passes `env`. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** Called when the server is about to stop. Ends responses that would otherwise stay open. */
  drain?(): void;
  /** Releases all resources of the service. */
  close(): Promise<void>;
  /** Resolves with the reason when the service can no longer work. The server then stops, as after a signal. */
  readonly lost?: Promise<Error> | undefined;
}

/** A request's headers, and the whole request, must arrive within these times. */
const headersTimeoutMs = 20_000;
const requestTimeoutMs = 120_000;
/**
 * Longer than the idle timeout of common load balancers. Otherwise one could reuse a connection just as the server
 * closes it.
 */
const keepAliveTimeoutMs = 75_000;
/**
 * The connections that can wait to be accepted, for example when all clients reconnect after a restart. The system
 * drops the first packets of any more, and their clients try again a second later. Linux allows no more by default.
 */
const backlog = 4_096;
/** Milliseconds that a service has to close. */
export const closeMs = 10_000;
/** Milliseconds that running requests have to finish. */
export const defaultDrainMs = 8_000;
/** Milliseconds for which the server still accepts connections after SIGTERM. */
export const defaultDrainDelayMs = 1_000;

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

  constructor(service: Service, { log, drainMs = defaultDrainMs }: ServingOptions) {
    this.#service = service;
    this.#log = log;
    this.#drainMs = drainMs;
    this.server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
    });
    const answer = getRequestListener((request, env) => service.fetch(request, env));
    this.#connections = new Connections(this.server, answer);
  }

  /** Serves a connection that another process has accepted. */
  adopt(socket: Socket): void {
    // Node starts to enforce its timeouts for headers and requests at this event.
    if (!this.#adopts) this.server.emit('listening');
    this.#adopts = true;
    // A client may close its side of the connection after its request.
    socket.allowHalfOpen = true;
    this.server.emit('connection', socket);
  }

  /** Ends the responses that would otherwise stay open. All others now carry `Connection: close`. */
  announceEnd(): void {
    this.#service.drain?.();
    this.#connections.announceEnd();
  }

  /**
   * Announces the end, stops listening, lets requests finish, and closes the service. Further calls wait for the first.
   * @param delayMs milliseconds for which the server still accepts connections
   * @returns true if everything ended in time
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
 * Makes a server listen, and returns its URL, without a trailing slash. Rejects if it cannot listen, for example with
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
