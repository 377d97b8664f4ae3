import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { settlesWithin } from './limits/deadline.js';
import { PacedInput } from './paced-input.js';

const sweepMs = 50;
/** How long nothing must have happened on a connection: a request may be on its way. */
const quietMs = 200;

/** What has happened on a connection. */
interface Use {
  readonly input: PacedInput;
  isAnswering: boolean;
  /** Begin to answer further requests, in order. */
  readonly waiting: (() => void)[];
  /** How many bytes had been read after the last response, and when. If there are more, a request is arriving. */
  bytesRead: number;
  since: number;
}

/**
 * The open connections of an HTTP server. On each, requests are answered one after the other: the next begins when the
 * connection has taken the answer before it, in a later round of the event loop, so that the other connections have their
 * turn. They end without breaking off what they carry.
 */
export class Connections {
  readonly #server: Server;
  readonly #answer: RequestListener;
  readonly #uses = new Map<Socket, Use>();
  readonly #running = new Map<ServerResponse, IncomingMessage>();
  #isLast = false;
  #onNone = () => {};

  /** @param answer answers a request of the server's */
  constructor(server: Server, answer: RequestListener) {
    this.#server = server;
    this.#answer = answer;
    server.on('connection', (socket: Socket) => {
      const waiting: Use['waiting'] = [];
      const input = new PacedInput(socket, () => waiting.length > 0);
      this.#uses.set(socket, { input, isAnswering: false, waiting, bytesRead: 0, since: performance.now() });
      socket.once('close', () => {
        this.#uses.delete(socket);
        if (this.#uses.size === 0) this.#onNone();
      });
    });
    server.on('request', (request, response) => this.#take(request, response));
    // Node upgrades connections only if somebody listens for it: this must not be heard earlier than by the application.
    const heard = new Set<string | symbol>();
    server.on('newListener', (event) => {
      if ((event !== 'upgrade' && event !== 'connect') || heard.has(event)) return;
      heard.add(event);
      server.on(event, (_: IncomingMessage, socket: Socket) => this.#release(socket));
    });
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

  #take(request: IncomingMessage, response: ServerResponse): void {
    const use = this.#uses.get(request.socket);
    if (!use) return;
    const begin = () => this.#begin(request, response, use);
    if (use.isAnswering || use.waiting.length > 0) use.waiting.push(begin);
    else begin();
  }

  #begin(request: IncomingMessage, response: ServerResponse, use: Use): void {
    if (this.#isLast) sayLast(response);
    this.#running.set(response, request);
    use.isAnswering = true;
    response.once('close', () => {
      this.#running.delete(response);
      use.isAnswering = false;
      use.bytesRead = request.socket.bytesRead;
      use.since = performance.now();
      if (use.waiting.length > 0) setImmediate(() => this.#beginNext(request.socket, use));
    });
    this.#answer(request, response);
  }

  #beginNext(socket: Socket, { waiting }: Use): void {
    // The answer may have been the connection's last one.
    if (!socket.writable) return;
    const begin = waiting.shift();
    if (waiting.length === 0) socket.resume();
    begin?.();
  }

  /** From here on, the application reads what comes over the connection. */
  #release(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (!use) return;
    use.waiting.length = 0;
    use.input.release();
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
    for (const [socket, { isAnswering, waiting, bytesRead, since }] of this.#uses) {
      if (!isAnswering && waiting.length === 0 && socket.bytesRead === bytesRead && since < limit) socket.destroy();
    }
  }
}

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
