import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The maximum size of a read, in bytes. */
const maxReadBytes = 256 * 1024;

/**
 * A temporary file that is read from its beginning while it is written at its end. It has no name, so no other program
 * can open it, and it disappears with this process, however that ends.
 */
export class SpoolFile {
  readonly #handle: FileHandle;
  #written = 0;
  #read = 0;

  /** @throws the system's error */
  static async create(): Promise<SpoolFile> {
    const path = join(tmpdir(), `tidemark-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    await rm(path);
    return new SpoolFile(handle);
  }

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The length in bytes. */
  get length(): number {
    return this.#written;
  }

  /**
   * @throws the system's error, for example if the disk is full. Earlier data can still be read, but the file must not
   * be written to again.
   */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
    this.#written += bytes.byteLength;
  }

  /** Returns the next bytes; undefined if everything written so far has been read. */
  async read(): Promise<Uint8Array | undefined> {
    const length = Math.min(this.#written - this.#read, maxReadBytes);
    if (length === 0) return undefined;
    const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(length), 0, length, this.#read);
    if (bytesRead === 0) throw new Error('A temporary file has been cut off');
    this.#read += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
