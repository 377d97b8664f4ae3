/** What pulls read together: those of one client view that come at the same time with the same base. */
import type { Database } from '../db/database.js';
import type { Installation } from '../installation/installation.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { Checksums } from '../store/checksums.js';
import {
  type Header,
  type HeaderInput,
  headerQuery,
  type Member,
  type PatchHeader,
  probe,
  readHeaders,
} from '../store/header.js';
import { type Checked, changesOf, deltaPatch } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import { Coalescer } from './coalesce.js';
import { openPatch, type PatchStream } from './patch-stream.js';

/** One pull, and what it reads. */
export interface Reader {
  /**
   * Identifies the user, the views with their parameters, the installation, the base, its tick and the checksums:
   * readers with the same key differ only in `member`.
   */
  readonly key: string;
  readonly installation: Installation;
  readonly views: readonly BoundView[];
  readonly base: Snapshot;
  /** The tick that the cookie names, if any. */
  readonly tick: string | null;
  /** Which checksums deltas must come with. */
  readonly checked: Checked;
  readonly member: Member;
}

/** The answer to one reader, all from one snapshot. */
export interface Patch {
  readonly header: PatchHeader;
  /** IDs of the tables whose changes the ops show. */
  readonly tables: readonly number[];
  readonly checksums: Checksums | undefined;
  /** The ops, or the first of them, as bytes that other pulls may send too. */
  readonly held: readonly Uint8Array[];
  /** The ops after those, if there are too many to hold. */
  readonly more?: PatchStream | undefined;
}

interface DeltaReader extends Reader {
  readonly changed: Header['changed'];
}

/** The size, in bytes, up to which a patch is held for several pulls. */
const heldBytes = 256 * 1024;
const patienceMs = 100;

/**
 * Reads for pulls, in as few statements as possible. Every answer comes from a statement that began after the reader
 * asked.
 */
export class SharedReads {
  readonly #db: Database;
  readonly #probes = new Coalescer((readers: readonly Reader[]) => this.#probe(readers), patienceMs);
  readonly #deltas = new Coalescer((readers: readonly DeltaReader[]) => this.#delta(readers), patienceMs);

  constructor(db: Database) {
    this.#db = db;
  }

  /** The header alone. */
  probe(reader: Reader): Promise<Header> {
    return this.#probes.ask(reader.key, reader);
  }

  /**
   * What has changed in the views since the base, given the tables that have changed.
   * The reader must close `more`, if there is one.
   */
  delta(reader: Reader, changed: Header['changed']): Promise<Patch> {
    return this.#deltas.ask(reader.key, { ...reader, changed });
  }

  async #probe(readers: readonly Reader[]): Promise<Header[]> {
    const [row] = await this.#db.query<{ line: string }>(probe(headerInput(readers)));
    return readHeaders(row!.line);
  }

  async #delta(readers: readonly DeltaReader[]): Promise<(Patch | Promise<Patch>)[]> {
    const { views, base, installation, checked } = readers[0]!;
    const changes = changesOf(installation.tables, new Map(readers.flatMap(({ changed }) => changed)));
    const tables = changes.map(({ table }) => table.id);
    const statement = deltaPatch(headerQuery(headerInput(readers)), views, changes, base, checked);
    const stream = await openPatch(this.#db, statement, checked !== 'no');
    const { checksums } = stream;
    const { held, isWhole } = await hold(stream.ops);
    if (isWhole) return stream.headers.map((header) => ({ header, tables, checksums, held }));
    const [, ...others] = readers;
    return [
      { header: stream.headers[0]!, tables, checksums, held, more: stream },
      ...others.map(async (reader) => (await this.#delta([reader]))[0]!),
    ];
  }
}

function headerInput(readers: readonly Reader[]): HeaderInput {
  const { installation, base, tick } = readers[0]!;
  return { base, tick, tables: installation.tables, members: readers.map(({ member }) => member) };
}

/** Reads until the end, or until as much as can be held has been read. */
async function hold(ops: AsyncIterator<Uint8Array>): Promise<{ held: Uint8Array[]; isWhole: boolean }> {
  const held: Uint8Array[] = [];
  for (let bytes = 0; bytes <= heldBytes; ) {
    const { value, done } = await ops.next();
    if (done) return { held, isWhole: true };
    held.push(value);
    bytes += value.length;
  }
  return { held, isWhole: false };
}
