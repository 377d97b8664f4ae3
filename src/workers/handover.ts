/**
 * Gives the connections of a port to processes. Node's cluster module could do that, but it forgets a connection that it
 * was just giving to a process that is killed: the client would wait for ever.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { startListening } from '../serving.js';

/** A process that takes connections. */
export interface Taker {
  /** Sends a connection, of which a copy stays here. */
  give(id: number, socket: Socket): void;
}

interface Given {
  readonly socket: Socket;
  readonly taker: Taker;
}

export class Handover {
  // Nothing of a connection is read here.
  readonly #server: Server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
  readonly #takers: Taker[] = [];
  readonly #given = new Map<number, Given>();
  #waiting: Socket[] = [];
  #ids = 0;

  constructor() {
    this.#server.on('connection', (socket: Socket) => {
      // The process that serves it notices by itself.
      socket.on('error', () => {});
      this.#give(socket);
    });
  }

  /** Returns the URL, without a trailing slash. Rejects if the port is taken. */
  listen(port: number, hostname: string | undefined): Promise<string> {
    return startListening(this.#server, port, hostname);
  }

  /** From now on, the process is given connections when it is its turn. */
  add(taker: Taker): void {
    this.#takers.push(taker);
    for (const socket of this.#waiting.splice(0)) this.#give(socket);
  }

  /** The process is given no more connections. */
  remove(taker: Taker): void {
    const at = this.#takers.indexOf(taker);
    if (at >= 0) this.#takers.splice(at, 1);
  }

  /** The process has the connection. */
  taken(id: number): void {
    // Closes the copy: the connection goes on.
    this.#given.get(id)?.socket.destroy();
    this.#given.delete(id);
  }

  /** The process is gone: what it has not taken goes to others. */
  lost(taker: Taker): void {
    this.remove(taker);
    for (const [id, given] of this.#given) {
      if (given.taker !== taker) continue;
      this.#given.delete(id);
      this.#give(given.socket);
    }
  }

  /** Accepts no more connections. What no process has been given is closed. */
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
    this.#given.set(id, { socket, taker });
    taker.give(id, socket);
  }
}
