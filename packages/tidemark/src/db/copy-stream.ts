import { Readable } from 'node:stream';
import type pg from 'pg';

/** The length of a message's type and length fields, in bytes. */
const headerLength = 5;
const [copyData, copyDone, errorResponse] = ['d', 'c', 'E'].map((letter) => letter.charCodeAt(0));

type Listener = (data: Buffer) => void;

/**
 * The output of a `copy … to stdout` statement, as a query for the driver.
 *
 * Each row is a message. While rows arrive, this class reads the messages itself, because the driver would create
 * objects for each, which takes more memory and time than anything else done with a row. It compacts the data of a
 * chunk's messages in place.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY
 */
export class CopyStream extends Readable implements pg.Submittable {
  readonly #text: string;
  #connection: pg.Connection | undefined;
  #driver: Listener | undefined;
  readonly #header: Buffer = Buffer.alloc(headerLength);
  /** The number of bytes of the current message's header that have arrived. */
  #headerBytesRead = 0;
  /** The number of bytes of the current message that are still to come after its header. */
  #left = 0;
  #needsData = false;
  #isScheduled = false;
  readonly #onReadable = () => this.#schedule();

  /**
   * @param text the statement, optionally preceded by others whose results are ignored
   * @param highWaterMark the number of bytes to buffer before Postgres has to wait
   */
  constructor(text: string, highWaterMark: number) {
    super({ highWaterMark });
    this.#text = text;
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection;
    const { stream } = connection;
    [this.#driver] = stream.listeners('data') as Listener[];
    stream.removeListener('data', this.#driver!);
    // A `readable` listener ends flowing mode. After a `pause`, Deno would not read from the connection again.
    stream.on('readable', this.#onReadable);
    connection.query(this.#text);
  }

  override _read(): void {
    this.#needsData = true;
    this.#schedule();
  }

  /** The driver calls this when the statement fails, or when its connection breaks. */
  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {}

  /**
   * Reads from the connection in the next turn of the event loop. Reading immediately would request more data within
   * the same turn, over and over, and everything else in the process would wait.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#forward();
    });
  }

  #forward(): void {
    while (this.#needsData && this.#connection) {
      const chunk = this.#connection.stream.read() as Buffer | null;
      if (chunk === null) return;
      this.#take(chunk);
    }
  }

  #take(chunk: Buffer): void {
    let length = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#headerBytesRead < headerLength) {
        this.#header[this.#headerBytesRead++] = chunk[at++]!;
        if (this.#headerBytesRead < headerLength) continue;
        const [code] = this.#header;
        this.#left = this.#header.readInt32BE(1) - (headerLength - 1);
        if (code === copyDone || code === errorResponse) {
          if (length > 0) this.push(chunk.subarray(0, length));
          this.#end(code === copyDone ? [] : [this.#header], chunk.subarray(at));
          return;
        }
      }
      const end = Math.min(at + this.#left, chunk.length);
      if (this.#header[0] === copyData) {
        chunk.copyWithin(length, at, end);
        length += end - at;
      }
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#headerBytesRead = 0;
    }
    if (length > 0) this.#needsData = this.push(chunk.subarray(0, length));
  }

  /** Hands the remaining messages to the driver. */
  #end(header: readonly Buffer[], rest: Buffer): void {
    const { stream } = this.#connection!;
    this.#connection = undefined;
    stream.removeListener('readable', this.#onReadable);
    stream.on('data', this.#driver!);
    if (header.length === 0) this.push(null);
    this.#driver!(Buffer.concat([...header, rest]));
    // Resumes later, because the driver can pause the stream as well.
    process.nextTick(() => stream.resume());
  }
}
