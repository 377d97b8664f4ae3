/**
 * A minimal HTTP/1.1 client, so that its own cost does not hide the server's. One connection, one request at a time.
 */
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** Milliseconds since the start of the request. */
  readonly firstByteMs: number;
  readonly ms: number;
  /** The size of the whole response. */
  readonly bytes: number;
  /** The kept part of the body, which always includes the beginning. */
  readonly body: string;
  /** The last bytes of the response, as received. */
  readonly end: string;
}

/** The server answered with a status other than 200. */
export class Refusal extends Error {
  readonly status: number;
  /** The time that the server asks clients to wait. */
  readonly retryAfterMs: number;

  constructor(message: string, { status, retryAfter }: Head) {
    super(message);
    this.status = status;
    this.retryAfterMs = 1000 * retryAfter;
  }
}

export interface PostOptions {
  /** The number of bytes of the body to return. */
  readonly keep?: number | undefined;
  /** Additional header lines, each with its line end. */
  readonly headers?: string;
}

/** The bytes kept at the beginning and at the end of a large body. Either part is large enough for the cookie. */
const keptBytes = 16 * 1024;
const keptAtEnd = 16 * 1024;
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #onData: (data: Buffer) => void = () => {};
  #onError: (error: Error) => void = () => {};

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay();
    socket.on('data', (data: Buffer) => this.#onData(data));
    socket.on('error', (error) => this.#onError(error));
    socket.on('close', () => this.#onError(new Error('The server closed the connection')));
  }

  static open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host: hostname });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, host));
      });
    });
  }

  close(): void {
    this.#onError = () => {};
    this.#socket.destroy();
  }

  post(path: string, user: string, body: string, options: PostOptions = {}): Promise<Reply> {
    const { keep = keptBytes, headers = '' } = options;
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAuthorization: Bearer ${user}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`;
    return new Promise((resolve, reject) => {
      // Writes to a destroyed socket are lost without an error.
      if (this.#socket.destroyed) throw new Error('The server closed the connection between two requests');
      const started = performance.now();
      let firstByteMs = 0;
      let bytes = 0;
      let head_: Head | undefined;
      let kept: Buffer[] = [];
      let keptLength = 0;
      let tail: Buffer = Buffer.alloc(0);
      this.#onError = reject;
      this.#onData = (data) => {
        if (bytes === 0) firstByteMs = performance.now() - started;
        bytes += data.length;
        if (keptLength < keep || !head_) {
          kept.push(data);
          keptLength += data.length;
        }
        if (!head_) {
          const start = Buffer.concat(kept);
          kept = [start];
          head_ = readHead(start);
          if (!head_) return;
        }
        tail = (data.length >= keptAtEnd ? data : Buffer.concat([tail, data])).subarray(-keptAtEnd);
        const isLast = () => tail.subarray(-endOfChunks.length).equals(endOfChunks);
        const done = head_.length === undefined ? isLast() : bytes === head_.end + head_.length;
        if (!done) return;
        const ms = performance.now() - started;
        const raw = Buffer.concat(kept).subarray(head_.end);
        const text = (head_.length === undefined ? withoutChunkHeads(raw) : raw).toString();
        const { status } = head_;
        if (status === 200) resolve({ status, firstByteMs, ms, bytes, body: text, end: tail.toString() });
        else reject(new Refusal(`${path} answered ${status}: ${text}`, head_));
      };
      this.#socket.write(head + body);
    });
  }
}

interface Head {
  readonly status: number;
  /** The offset at which the body begins. */
  readonly end: number;
  /** Undefined if the body is chunked. */
  readonly length: number | undefined;
  /** In seconds. */
  readonly retryAfter: number;
}

function readHead(start: Buffer): Head | undefined {
  const end = start.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const text = start.subarray(0, end).toString('latin1');
  const length = /^content-length: (\d+)/im.exec(text)?.[1];
  return {
    status: Number(text.slice(9, 12)),
    end: end + 4,
    length: length === undefined ? undefined : Number(length),
    retryAfter: Number(/^retry-after: (\d+)/im.exec(text)?.[1] ?? 0),
  };
}

function withoutChunkHeads(raw: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < raw.length; ) {
    const lineEnd = raw.indexOf('\r\n', at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(raw.subarray(at, lineEnd).toString('latin1'), 16);
    if (size === 0) break;
    parts.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
