/**
 * The least HTTP/1.1 client that will do: its own cost must not hide the server's. One connection, one request at a
 * time.
 */
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** From the request's start, in milliseconds. */
  readonly firstByteMs: number;
  readonly ms: number;
  /** Of the whole response. */
  readonly bytes: number;
  /** The body as far as it was kept; always at least the beginning. */
  readonly body: string;
}

/** The server answered with another status than 200. */
export class Refusal extends Error {
  readonly status: number;
  /** As the server asks for. */
  readonly retryAfterMs: number;

  constructor(message: string, { status, retryAfter }: Head) {
    super(message);
    this.status = status;
    this.retryAfterMs = 1000 * retryAfter;
  }
}

export interface PostOptions {
  /** How many bytes of the body to hand out. */
  readonly keep?: number | undefined;
  /** More headers, each as it stands on its line, the line's end included. */
  readonly headers?: string;
}

/** Sends requests: a connection, or several that are shared. */
export interface Poster {
  post(path: string, user: string, body: string, options?: PostOptions): Promise<Reply>;
}

/** How much of a large body is kept: enough for the cookie. */
const keptBytes = 16 * 1024;
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

export class Connection implements Poster {
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

  /** @param localAddress where it comes from, of this machine's addresses */
  static open(url: string, localAddress?: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host: hostname, localAddress });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, host));
      });
    });
  }

  /** The bytes that it has sent and received, without what the network adds. */
  get traffic(): { readonly sent: number; readonly received: number } {
    return { sent: this.#socket.bytesWritten, received: this.#socket.bytesRead };
  }

  close(): void {
    this.#onError = () => {};
    this.#socket.destroy();
  }

  post(path: string, user: string, body: string, options: PostOptions = {}): Promise<Reply> {
    const { keep = keptBytes, headers = '' } = options;
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAuthorization: Bearer ${user}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`;
    return new Promise((resolve, reject) => {
      // Nothing would say that what is written to it is lost.
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
        tail = data.length >= endOfChunks.length ? data : Buffer.concat([tail, data]);
        tail = tail.subarray(-endOfChunks.length);
        const done = head_.length === undefined ? tail.equals(endOfChunks) : bytes === head_.end + head_.length;
        if (!done) return;
        const ms = performance.now() - started;
        const raw = Buffer.concat(kept).subarray(head_.end);
        const text = (head_.length === undefined ? withoutChunkHeads(raw) : raw).toString();
        const { status } = head_;
        if (status === 200) resolve({ status, firstByteMs, ms, bytes, body: text });
        else reject(new Refusal(`${path} answered ${status}: ${text}`, head_));
      };
      this.#socket.write(head + body);
    });
  }
}

interface Head {
  readonly status: number;
  /** Where the body begins. */
  readonly end: number;
  /** Undefined when the body comes in chunks. */
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
