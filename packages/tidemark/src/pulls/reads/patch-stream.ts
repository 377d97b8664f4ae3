/**
 * Streams a patch from the database: a line with the observation, optionally a line with checksums, then the ops as
 * bytes, each preceded by a comma, or the rows from which this process writes the ops.
 */
import type { Database } from '../../db/database.js';
import { retry } from '../../db/transact.js';
import { type Checksums, readChecksums } from '../../store/patches/checksums.js';
import type { FullPatch } from '../../store/patches/full-patch.js';
import { type PatchObservation, readPatchObservation } from '../../store/polls/observation.js';
import { firstField, OpWriter } from './write-ops.js';

interface Closable {
  /** Ends the statement, even if not all of its output has been read. */
  close(): Promise<void>;
}

/** The parts of a patch, in the order in which they arrive. */
export interface PatchStream extends Closable {
  readonly observation: PatchObservation;
  readonly checksums: Checksums | undefined;
  /** The ops without the first comma; empty if there are none. */
  readonly ops: AsyncIterator<Uint8Array>;
}

/** The result of a statement that found more rows than it may yield. */
export interface TooManyRows extends Closable {
  readonly observation: undefined;
}

const newline = 0x0a;
const comma = 0x2c;
/** The only line if there are too many rows; see `LinesQueries`. */
const tooManyRows = 'null';
/** COPY's quote character. It surrounds values that contain a line break, and JSON text never contains it. */
const quote = 0x01;

/** The number of attempts if a statement deadlocks, as with a TRUNCATE that locks the tables in another order. */
export const maxAttempts = 3;

type Chunks = AsyncIterator<Uint8Array>;

/**
 * Runs a statement that yields a patch, and reads it up to the ops.
 * @param hasChecksums true if the statement yields a line of checksums
 * @param signal aborts when no request waits for the patch any more
 * @throws Problem if a standby has seen too many transactions to list.
 */
export function openPatch(
  db: Database,
  statement: string,
  hasChecksums: boolean,
  signal?: AbortSignal,
): Promise<PatchStream> {
  return open(db, statement, signal, async (chunks) => {
    const { line, remainder } = await readLine(new Uint8Array(), chunks);
    const observation = readPatchObservation(line);
    if (!hasChecksums) return { observation, checksums: undefined, ops: ops(remainder, chunks, unquoted) };
    return withChecksums(observation, remainder, chunks);
  });
}

/**
 * Runs a statement that yields a full patch, and reads it up to the ops.
 * @throws as `openPatch`
 */
export function openFullPatch(
  db: Database,
  patch: FullPatch,
  signal?: AbortSignal,
): Promise<PatchStream | TooManyRows> {
  return open(db, patch.statement, signal, async (chunks) => {
    const { line, remainder } = await readLine(new Uint8Array(), chunks);
    const first = firstField(line);
    if (first === tooManyRows) return { observation: undefined };
    const writer = new OpWriter(patch.ops);
    const observation = readPatchObservation(first);
    return { observation, checksums: undefined, ops: ops(remainder, chunks, (bytes) => writer.write(bytes)) };
  });
}

/**
 * Runs a statement that yields a full patch with checksums, and reads it up to the ops.
 * @throws as `openPatch`
 */
export function openFullPatchWithChecksums(
  db: Database,
  statement: string,
  signal?: AbortSignal,
): Promise<PatchStream | TooManyRows> {
  return open(db, statement, signal, async (chunks) => {
    const { line, remainder } = await readLine(new Uint8Array(), chunks);
    if (line === tooManyRows) return { observation: undefined };
    return withChecksums(readPatchObservation(line), remainder, chunks);
  });
}

/** @param remainder the bytes after the observation that have been read */
async function withChecksums(
  observation: PatchObservation,
  remainder: Uint8Array,
  chunks: Chunks,
): Promise<Omit<PatchStream, 'close'>> {
  const second = await readLine(remainder, chunks);
  return { observation, checksums: readChecksums(second.line), ops: ops(second.remainder, chunks, unquoted) };
}

function open<Parts extends object>(
  db: Database,
  statement: string,
  signal: AbortSignal | undefined,
  read: (chunks: Chunks) => Promise<Parts>,
): Promise<Parts & Closable> {
  const openOnce = async () => {
    const chunks = db.copy(statement, signal)[Symbol.asyncIterator]();
    const close = async () => void (await chunks.return?.());
    try {
      return { ...(await read(chunks)), close };
    } catch (error) {
      await close();
      throw error;
    }
  };
  return retry(openOnce, maxAttempts);
}

async function readLine(start: Uint8Array, chunks: Chunks): Promise<{ line: string; remainder: Uint8Array }> {
  let read = start;
  for (;;) {
    const end = read.indexOf(newline);
    if (end >= 0) return { line: Buffer.from(read.subarray(0, end)).toString(), remainder: read.subarray(end + 1) };
    const { value, done } = await chunks.next();
    if (done) throw new Error('The pull statement ended before its ops');
    read = read.length === 0 ? value : Buffer.concat([read, value]);
  }
}

function unquoted(bytes: Uint8Array): Uint8Array {
  return bytes.includes(quote) ? bytes.filter((byte) => byte !== quote) : bytes;
}

/** @param write turns bytes of the statement into bytes of the ops */
async function* ops(
  remainder: Uint8Array,
  chunks: Chunks,
  write: (bytes: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  try {
    let first = true;
    let chunk: Uint8Array | undefined = remainder;
    while (chunk) {
      const bytes: Uint8Array = write(chunk);
      const start: number = first ? bytes.indexOf(comma) + 1 : 0;
      if (bytes.length > start) yield bytes.subarray(start);
      if (bytes.length > 0) first = false;
      const next: IteratorResult<Uint8Array> = await chunks.next();
      chunk = next.done ? undefined : next.value;
    }
  } finally {
    await chunks.return?.();
  }
}
