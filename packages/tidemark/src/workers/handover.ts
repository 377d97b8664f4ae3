/**
 * Distributes the connections of a port to processes. Node's cluster module could do that, but it loses a connection
 * that it is passing to a process when that process is killed, and the client would wait forever.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { startListening } from '../serving.js';

/** A process that accepts connections. */
export interface Taker {
  /** Sends a connection, and keeps a copy here. */
  give(id: number, socket: Socket): void;
}

interface PendingConnection {
  readonly socket: Socket;
  readonly taker: Taker;
}

export class Handover {
  // This process reads nothing from the connections.
  readonly #server: Server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
  readonly #takers: Taker[] = [];
  readonly #pending = new Map<number, PendingConnection>();
  #waiting: Socket[] = [];
  #ids = 0;

  constructor() {
    this.#server.on('connection', (socket: Socket) => {
      // The process that serves the connection handles its errors.
      socket.on('error', () => {});
      this.#give(socket);
    });
  }

  /** Starts listening. Returns the URL, without a trailing slash. Rejects if the port is taken. */
  listen(port: number, hostname: string | undefined): Promise<string> {
    return startListening(this.#server, port, hostname);
  }

  /** Adds a process, which then receives connections in turn with the others. */
  add(taker: Taker): void {
    this.#takers.push(taker);
    for (const socket of this.#waiting.splice(0)) this.#give(socket);
  }

  /** Gives the process no more connections. */
  remove(taker: Taker): void {
    const at = this.#takers.indexOf(taker);
    if (at >= 0) this.#takers.splice(at, 1);
  }

  /** Confirms that the process has the connection. */
  confirm(id: number): void {
    // Closes only the copy. The connection stays open.
    this.#pending.get(id)?.socket.destroy();
    this.#pending.delete(id);
  }

  /** Handles the exit of a process: the connections that it has not confirmed go to others. */
  handleExit(taker: Taker): void {
    this.remove(taker);
    for (const [id, pending] of this.#pending) {
      if (pending.taker !== taker) continue;
      this.#pending.delete(id);
      this.#give(pending.socket);
    }
  }

  /** Stops accepting connections, and closes those that no process has received. */
  close(): void {
    this.#server.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  #give(socket: Socket): void {
    const taker = this.#takers.shift();
    if (!taker) {
      this.#waiting.push(socket);
      return;
    }
    this.#takers.push(taker);
    const id = ++this.#ids;
    this.#pending.set(id, { socket, taker });
    taker.give(id, socket);
  }
}
