import type { Socket } from 'node:net';

/**
 * The bytes that Node's parser gets in one slice: more with each that has found no second request, as in a large body. The
 * parser goes through all of them, and keeps each request: in the 64 KB that one read may yield, there can be 2,000.
 */
const sliceBytes = { first: 2 * 1024, max: 8 * 1024 };

/**
 * The bytes that a client sends over an HTTP connection. The server's parser gets them slice by slice, until it has found
 * a request that must wait for the answer to an earlier one. What has been read after that stays here, and no more is
 * read, until the socket is resumed.
 */
export class PacedInput {
  readonly #socket: Socket;
  readonly #mustWait: () => boolean;
  readonly #parse: (bytes: Buffer) => void;
  #unparsed: Buffer = Buffer.alloc(0);

  /**
   * @param socket with the listeners of an HTTP server
   * @param mustWait whether a request is waiting
   */
  constructor(socket: Socket, mustWait: () => boolean) {
    this.#socket = socket;
    this.#mustWait = mustWait;
    this.#parse = socket.listeners('data')[0] as (bytes: Buffer) => void;
    socket.off('data', this.#parse);
    socket.on('data', this.#read);
    socket.on('resume', this.#feed);
  }

  /** Hands the connection over to another protocol, with what has not been parsed. */
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
    // The server pauses the socket, too, while the body of a request is not read.
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
