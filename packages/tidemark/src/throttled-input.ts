import type { Socket } from 'node:net';

/**
 * The bytes that Node's parser gets in one slice. Slices grow as long as no second request appears, as in a large body.
 * The parser parses a whole slice and keeps every request in it, and the 64 KB of one read can contain 2,000 requests.
 */
const sliceBytes = { first: 2 * 1024, max: 8 * 1024 };

/**
 * Passes the input of an HTTP connection to the server's parser, slice by slice, until the parser finds a request that
 * must wait for the response to an earlier one. Then keeps the rest of the input, and reads no more until the socket is
 * resumed.
 */
export class ThrottledInput {
  readonly #socket: Socket;
  readonly #mustWait: () => boolean;
  readonly #parse: (bytes: Buffer) => void;
  #unparsed: Buffer = Buffer.alloc(0);

  /**
   * @param socket a socket that has the listeners of an HTTP server
   * @param mustWait returns true while a request is waiting
   */
  constructor(socket: Socket, mustWait: () => boolean) {
    this.#socket = socket;
    this.#mustWait = mustWait;
    this.#parse = socket.listeners('data')[0] as (bytes: Buffer) => void;
    socket.off('data', this.#parse);
    socket.on('data', this.#read);
    socket.on('resume', this.#feed);
  }

  /** Hands the connection over to another protocol, with the unparsed input. */
  release(): void {
    this.#socket.off('data', this.#read);
    this.#socket.off('resume', this.#feed);
    if (this.#unparsed.length > 0) this.#socket.unshift(this.#unparsed);
    this.#unparsed = Buffer.alloc(0);
  }

  readonly #read = (bytes: Buffer): void => {
    this.#unparsed = this.#unparsed.length > 0 ? Buffer.concat([this.#unparsed, bytes]) : bytes;
    this.#feed();
  };

  readonly #feed = (): void => {
    // The server also pauses the socket, while the application does not read the body of a request.
    let size = sliceBytes.first;
    while (this.#unparsed.length > 0 && !this.#mustWait() && !this.#socket.isPaused() && !this.#socket.destroyed) {
      const slice = this.#unparsed.subarray(0, size);
      this.#unparsed = this.#unparsed.subarray(slice.length);
      this.#parse(slice);
      size = Math.min(2 * size, sliceBytes.max);
    }
    // The server resumes the socket after each request.
    if (this.#mustWait()) this.#socket.pause();
  };
}
