/** What pulls read together: those that come at the same time with the same base. */
import type { Database } from '../db/database.js';
import type { Gate } from '../limits/gate.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { type Header, headerOf, isSmall, readReport } from '../store/header.js';
import { readableIn } from '../store/layouts/alteration.js';
import { type LookInput, literalReport, look } from '../store/look.js';
import { changesOf, deltaPatch } from '../store/patches/patch-sql.js';
import { Coalescer } from '../window/coalesce.js';
import type { Looks } from '../window/looks.js';
import { headerIn } from '../window/sight.js';
import { type Demand, meets } from './demand.js';
import { openInPlace } from './long-reads.js';
import { openPatch, type PatchStream } from './patch-stream.js';
import type { DeltaReader, Patch, Reader } from './reader.js';
import { SeatedReads } from './seated-reads.js';

interface LargeDeltaReader extends DeltaReader {
  readonly gate: Gate;
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
  readonly #looks: Looks | undefined;
  readonly #seated: SeatedReads;
  readonly #probes = new Coalescer(
    (readers: readonly Reader[], signal) => this.#probe(readers, signal),
    patienceMs,
    ({ signal }) => signal,
  );
  readonly #deltas = new Coalescer(
    (readers: readonly LargeDeltaReader[], signal) => this.#delta(readers, signal),
    patienceMs,
    ({ reader }) => reader.signal,
  );

  /** @param looks if undefined, each client view is read about by itself */
  constructor(db: Database, looks: Looks | undefined) {
    this.#db = db;
    this.#looks = looks;
    this.#seated = new SeatedReads(db, () => looks?.window);
  }

  /** The header: out of the window if the window reaches so far, else by a statement of the reader's own. */
  async header(reader: Reader): Promise<Header> {
    const window = await this.#looks?.look();
    const seen = window && headerIn(window, reader);
    if (seen) return seen;
    const header = await this.#probes.ask(reader.key, reader);
    if (!header.diverged) window?.learn(new Map(), reader.known.cookie.tick);
    return header;
  }

  /** Whether the database shows what is demanded, as far as a look tells. */
  async meets(demand: Demand): Promise<boolean> {
    const window = await this.#looks?.look();
    return !window || meets(window.header, demand);
  }

  /** The header as of the newest look, if it says that something has changed for the reader since the cookie. */
  news(reader: Reader): Header | undefined {
    const window = this.#looks?.window;
    if (!window || reader.known.baseIn(window) === window.header.snapshot) return undefined;
    const header = headerIn(window, reader);
    return header && header.changed.length > 0 ? header : undefined;
  }

  /** Notes that, as of a snapshot, a reader's cookie is as good as a new one. */
  remainsQuiet({ known, member }: Reader, until: Snapshot): void {
    const window = this.#looks?.window;
    // Of mutations of the group that the cookie was given to, another group's pull says nothing.
    if (window && member.sameGroup) known.remainsQuiet(window, until);
  }

  /**
   * What has changed in the views since the base, given the tables that have changed.
   * The reader must close `more`, if there is one.
   * @param gate where a delta waits that is not small
   */
  async delta(reader: Reader, changed: Header['changed'], gate: Gate): Promise<Patch> {
    const asked = { reader, changed };
    const isSeated = reader.checked === 'no' && !reader.changed && reader.altered.size === 0 && isSmall(changed);
    const patch = isSeated ? await this.#seated.delta(asked) : undefined;
    return patch ?? this.#deltas.ask(reader.key, { ...asked, gate });
  }

  async #probe(readers: readonly Reader[], signal: AbortSignal | undefined): Promise<Header[]> {
    const [row] = await this.#db.query<{ line: string }>({ ...look(lookInput(readers)), signal });
    const report = readReport(row!.line);
    this.#looks?.window?.learn(report.groups);
    return readers.map(({ member, base }) => headerOf(report, member, base));
  }

  async #delta(
    asked: readonly LargeDeltaReader[],
    signal: AbortSignal | undefined,
  ): Promise<(Patch | Promise<Patch>)[]> {
    const readers = asked.map(({ reader }) => reader);
    const { views, base, installation, checked, changed } = readers[0]!;
    const rows = new Map(asked.flatMap((delta) => delta.changed));
    const altered = new Map(readers.flatMap((reader) => [...readableIn(reader.altered)]));
    const changes = changesOf(installation.tables, rows, altered);
    const tables = changes.map(({ table }) => table.id);
    const report = literalReport(lookInput(readers), installation.tables);
    const statement = deltaPatch(report, views, changes, base, checked, changed);
    const { gate, reader } = asked[0]!;
    const stream = await openInPlace(gate, reader.caller, () =>
      openPatch(this.#db, statement, checked !== 'no', signal),
    );
    const { report: answered, checksums } = stream;
    const { torn } = answered;
    const { held, isWhole } = await hold(stream);
    const patches = readers.map(
      ({ member }): Patch => ({ header: headerOf(answered, member, base), torn, tables, checksums, held }),
    );
    if (isWhole) return patches;
    const [, ...others] = asked;
    return [
      { ...patches[0]!, more: stream },
      ...others.map(async (other) => (await this.#delta([other], other.reader.signal))[0]!),
    ];
  }
}

function lookInput(readers: readonly Reader[]): LookInput {
  const { installation, base, known } = readers[0]!;
  return {
    base,
    tick: known.cookie.tick,
    tables: installation.tableIDs,
    groupIDs: [...new Set(readers.map(({ member }) => member.clientGroupID))],
  };
}

/** Reads until the end, or until as much as can be held has been read. Closes what has ended. */
async function hold({ ops, close }: PatchStream): Promise<{ held: Uint8Array[]; isWhole: boolean }> {
  const held: Uint8Array[] = [];
  let isOpen = false;
  try {
    for (let bytes = 0; bytes <= heldBytes; ) {
      const { value, done } = await ops.next();
      if (done) return { held, isWhole: true };
      held.push(value);
      bytes += value.length;
    }
    isOpen = true;
    return { held, isWhole: false };
  } finally {
    if (!isOpen) await close();
  }
}
