import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { settlesWithin } from './limits/deadline.js';
import { ThrottledInput } from './throttled-input.js';

const sweepMs = 50;
/** The time for which a connection must be idle before it is closed, because a request may be on its way. */
const quietMs = 200;

/** The state of a connection. */
interface Use {
  readonly input: ThrottledInput;
  isAnswering: boolean;
  /** Functions that start the waiting requests, in order. */
  readonly waiting: (() => void)[];
  /** The bytes read when the last response ended, and when that was. If more have been read, a request is arriving. */
  bytesRead: number;
  since: number;
}

/**
 * The open connections of an HTTP server. Answers the requests of a connection one after the other: the next one starts
 * after the connection has taken the previous response, in a later turn of the event loop, so that other connections
 * are served in between. At the end, lets running requests finish before it closes their connections.
 */
export class Connections {
  readonly #server: Server;
  readonly #answer: RequestListener;
  readonly #uses = new Map<Socket, Use>();
  readonly #running = new Map<ServerResponse, IncomingMessage>();
  #isLast = false;
  #onNone = () => {};

  /** @param answer handles a request to the server */
  constructor(server: Server, answer: RequestListener) {
    this.#server = server;
    this.#answer = answer;
    server.on('connection', (socket: Socket) => {
      const waiting: Use['waiting'] = [];
      const input = new ThrottledInput(socket, () => waiting.length > 0);
      this.#uses.set(socket, { input, isAnswering: false, waiting, bytesRead: 0, since: performance.now() });
      socket.once('close', () => {
        this.#uses.delete(socket);
        if (this.#uses.size === 0) this.#onNone();
      });
    });
    server.on('request', (request, response) => this.#take(request, response));
    // Node upgrades connections only if these events have listeners: ours must not come before the application's.
    const heard = new Set<string | symbol>();
    server.on('newListener', (event) => {
      if ((event !== 'upgrade' && event !== 'connect') || heard.has(event)) return;
      heard.add(event);
      server.on(event, (_: IncomingMessage, socket: Socket) => this.#release(socket));
    });
  }

  /** From now on, each response carries `Connection: close`. */
  announceEnd(): void {
    this.#isLast = true;
    for (const response of this.#running.keys()) sayLast(response);
  }

  /**
   * Stops accepting connections, and closes each open one as soon as it is idle. After `ms`, closes the rest.
   * @returns the method and path of each request that was cut off
   */
  async end(ms: number): Promise<string[]> {
    this.announceEnd();
    const closed = Promise.all([this.#closeListener(), this.#untilNone()]);
    const sweep = setInterval(() => this.#closeQuiet(), sweepMs);
    const isInTime = await settlesWithin(ms, closed);
    clearInterval(sweep);
    const cutOff = [...this.#running.values()].map(({ method, url }) => `${method} ${url?.split('?')[0]}`);
    // The server's `closeAllConnections` would leave WebSockets open.
    if (!isInTime) for (const socket of this.#uses.keys()) socket.destroy();
    await closed;
    // Earlier, Node's own `close` would have cut off responses that are still being sent. Now it only cleans up.
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
    // The previous response may have closed the connection.
    if (!socket.writable) return;
    const begin = waiting.shift();
    if (waiting.length === 0) socket.resume();
    begin?.();
  }

  /** Leaves the connection to the application, which reads its input from now on. */
  #release(socket: Socket): void {
    const use = this.#uses.get(socket);
    if (!use) return;
    use.waiting.length = 0;
    use.input.release();
  }

  /** Resolves when no connection is open. Node's own count omits those that another process accepted. */
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
