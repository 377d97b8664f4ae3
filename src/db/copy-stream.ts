import { Readable } from 'node:stream';
import type pg from 'pg';

/** A message's type and length. */
const headerLength = 5;
const [copyData, copyDone, errorResponse] = ['d', 'c', 'E'].map((letter) => letter.charCodeAt(0));

type Listener = (data: Buffer) => void;

/**
 * The output of a `copy … to stdout` statement, as a query for the driver.
 *
 * Each row is a message. For as long as rows come, messages are read here, since the driver would make objects of each:
 * that takes more memory and time than anything else that is done with a row. The data of a chunk's messages is moved
 * together within the chunk.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY
 */
export class CopyStream extends Readable implements pg.Submittable {
  readonly #text: string;
  #connection: pg.Connection | undefined;
  #driver: Listener | undefined;
  readonly #header: Buffer = Buffer.alloc(headerLength);
  /** How much of the message's header has come. */
  #known = 0;
  /** How much of the message is still to come, once the header has. */
  #left = 0;
  #isWanted = false;
  #isScheduled = false;
  readonly #onReadable = () => this.#schedule();

  /**
   * @param text the statement, and perhaps others before it, whose results are of no interest
   * @param highWaterMark how many bytes are held in memory before Postgres has to wait
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
    // This ends the flow by itself. After a `pause`, Deno would not read from the connection again.
    stream.on('readable', this.#onReadable);
    connection.query(this.#text);
  }

  override _read(): void {
    this.#isWanted = true;
    this.#schedule();
  }

  /** The driver calls this when the statement fails, or when its connection breaks. */
  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {}

  /**
   * Has the connection read in the next turn of the event loop. If it were read at once, it would be asked for more within
   * the same turn, again and again, and everything else in the process would wait.
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
    while (this.#isWanted && this.#connection) {
      const chunk = this.#connection.stream.read() as Buffer | null;
      if (chunk === null) return;
      this.#take(chunk);
    }
  }

  #take(chunk: Buffer): void {
    let length = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#known < headerLength) {
        this.#header[this.#known++] = chunk[at++]!;
        if (this.#known < headerLength) continue;
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
      if (this.#left === 0) this.#known = 0;
    }
    if (length > 0) this.#isWanted = this.push(chunk.subarray(0, length));
  }

  /** Leaves the messages that follow to the driver. */
  #end(header: readonly Buffer[], rest: Buffer): void {
    const { stream } = this.#connection!;
    this.#connection = undefined;
    stream.removeListener('readable', this.#onReadable);
    stream.on('data', this.#driver!);
    if (header.length === 0) this.push(null);
    this.#driver!(Buffer.concat([...header, rest]));
    // Not at once: the driver may pause it too.
    process.nextTick(() => stream.resume());
  }
}
