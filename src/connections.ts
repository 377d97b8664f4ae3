import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { settlesWithin } from './limits/deadline.js';

const sweepMs = 50;
/** How long nothing must have happened on a connection: a request may be on its way. */
const quietMs = 200;

/** What has happened on a connection. */
interface Use {
  /** How many requests are being answered. */
  running: number;
  /** How many bytes had been read after the last response, and when. If there are more, a request is arriving. */
  bytesRead: number;
  since: number;
}

/** The open connections of an HTTP server, which end without breaking off what they carry. */
export class Connections {
  readonly #server: Server;
  readonly #uses = new Map<Socket, Use>();
  readonly #running = new Map<ServerResponse, IncomingMessage>();
  #isLast = false;
  #onNone = () => {};

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#uses.set(socket, { running: 0, bytesRead: 0, since: performance.now() });
      socket.once('close', () => {
        this.#uses.delete(socket);
        if (this.#uses.size === 0) this.#onNone();
      });
    });
    // Before the server's own listener, which may answer at once.
    server.prependListener('request', (request, response) => this.#begin(request, response));
  }

  /** From now on, each response says that its connection ends with it. */
  announceEnd(): void {
    this.#isLast = true;
    for (const response of this.#running.keys()) sayLast(response);
  }

  /**
   * Accepts no more connections, and closes each as soon as nothing happens on it; after `ms`, all that are left.
   * @returns the method and path of each request that was cut off
   */
  async end(ms: number): Promise<string[]> {
    this.announceEnd();
    const closed = Promise.all([this.#closeListener(), this.#untilNone()]);
    const sweep = setInterval(() => this.#closeQuiet(), sweepMs);
    const isInTime = await settlesWithin(ms, closed);
    clearInterval(sweep);
    const cutOff = [...this.#running.values()].map(({ method, url }) => `${method} ${url?.split('?')[0]}`);
    // Not by the server's `closeAllConnections`, which leaves WebSockets open.
    if (!isInTime) for (const socket of this.#uses.keys()) socket.destroy();
    await closed;
    // Node's own `close` would have ended connections whose last response is still being sent. Now it only cleans up.
    this.#server.close();
    return cutOff;
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isLast) sayLast(response);
    this.#running.set(response, request);
    const use = this.#uses.get(request.socket);
    if (use) use.running++;
    response.once('close', () => {
      this.#running.delete(response);
      if (!use) return;
      use.running--;
      use.bytesRead = request.socket.bytesRead;
      use.since = performance.now();
    });
  }

  /** Node counts only the connections that its server has accepted itself. */
  #untilNone(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNone = resolve;
      if (this.#uses.size === 0) resolve();
    });
  }

  #closeListener(): Promise<void> {
    return new Promise((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
  }

  #closeQuiet(): void {
    const limit = performance.now() - quietMs;
    for (const [socket, { running, bytesRead, since }] of this.#uses) {
      if (running === 0 && socket.bytesRead === bytesRead && since < limit) socket.destroy();
    }
  }
}

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
