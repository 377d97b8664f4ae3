import { BoundedMap } from '../bounded-map.js';
import type { Database } from '../db/database.js';
import { isOfValue } from '../db/sqlstate.js';
import { retry } from '../db/transact.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { headerOf, isSmall, readPatchReport } from '../store/header.js';
import { changesOf } from '../store/patches/patch-sql.js';
import {
  mostOps,
  type Seat,
  type SeatedLine,
  seatedSql,
  seatedValues,
  seatOf,
  sharedSeats,
} from '../store/patches/seats.js';
import { Coalescer } from '../window/coalesce.js';
import type { Window } from '../window/window.js';
import { maxAttempts } from './patch-stream.js';
import type { DeltaReader, Patch, Reader } from './reader.js';

const patienceMs = 100;

/** How many statements are known by name; each connection keeps the plans of those that it has run. */
const keptStatements = 200;

/** The readers who have not seen the same changes of the same tables. */
interface Group {
  readonly base: Snapshot;
  /** How many log rows each changed table has, by its ID: what the window says, and what any reader has been told. */
  readonly rows: Map<number, number>;
  readonly readers: Reader[];
}

/** Readers who see the same: their views have the same parameters. */
interface Table {
  readonly seat: Seat;
  readonly readers: Reader[];
}

/**
 * Reads small deltas by statements that are planned once, each for as many client views as have the same form and have
 * not seen the same changes. Whoever they belong to: each op names the seat that it is for.
 */
export class SeatedReads {
  readonly #db: Database;
  readonly #window: () => Window | undefined;
  readonly #deltas = new Coalescer(
    (readers: readonly DeltaReader[], signal) => this.#read(readers, signal),
    patienceMs,
    ({ reader }) => reader.signal,
  );
  readonly #texts = new BoundedMap<string, string>(keptStatements);

  constructor(db: Database, window: () => Window | undefined) {
    this.#db = db;
    this.#window = window;
  }

  /** The delta of one reader; undefined if it is not small after all, or fails together with others. */
  delta(asked: DeltaReader): Promise<Patch | undefined> {
    return this.#deltas.ask(asked.reader.form, asked);
  }

  async #read(asked: readonly DeltaReader[], signal: AbortSignal | undefined): Promise<Promise<Patch | undefined>[]> {
    const answers = new Map<Reader, Promise<Patch | undefined>>();
    for (const group of groupsOf(asked, this.#window())) {
      for (const tables of shares(group)) {
        const patches = this.#share(group, tables, signal);
        for (const reader of tables.flatMap((table) => table.readers)) {
          answers.set(
            reader,
            patches.then((found) => found.get(reader)),
          );
        }
      }
    }
    // Those who come in the meantime shall share the next statement.
    await Promise.allSettled(answers.values());
    return asked.map(({ reader }) => answers.get(reader) ?? Promise.resolve(undefined));
  }

  /** One statement. What it yields for a seat is for the readers in that seat alone. */
  async #share(
    { base, rows }: Group,
    tables: readonly Table[],
    signal: AbortSignal | undefined,
  ): Promise<Map<Reader, Patch>> {
    const { views, installation, form } = tables[0]!.readers[0]!;
    const changes = changesOf(installation.tables, rows);
    const isShared = tables.length > 1;
    const readers = tables.flatMap((table) => table.readers);
    const groupIDs = [...new Set(readers.map(({ member }) => member.clientGroupID))];
    const input = { base, tables: installation.tableIDs, groupIDs };
    const key = [form, isShared, ...changes.map(({ table }) => table.id)].join();
    const text =
      this.#texts.get(key) ??
      seatedSql(
        views.map(({ view }) => view),
        changes,
        isShared,
      );
    this.#texts.set(key, text);
    const seats = tables.map(({ seat }) => seat);
    const values = seatedValues(input, installation.tables, seats, isShared);
    const lines = await retry(
      () => this.#db.query<SeatedLine>({ name: 'tidemark_delta', text, values, signal }),
      maxAttempts,
    ).catch((error: unknown) => {
      if (!isShared || !isOfValue(error)) throw error;
      return undefined;
    });
    // What one user's view cannot compute is no matter to the others: each reads alone.
    if (lines === undefined) return new Map();
    const [first, ...ops] = lines as [SeatedLine, ...SeatedLine[]];
    if (ops.length > mostOps || ops.some(({ line }) => line === null)) return new Map();
    const report = readPatchReport(first.line!);
    this.#window()?.learn(report.groups);
    const texts = textsBySeat(ops);
    const changed = changes.map(({ table }) => table.id);
    const found = new Map<Reader, Patch>();
    for (const [place, { readers: seated }] of tables.entries()) {
      const text = texts.get(isShared ? place : null);
      // Each op is preceded by a comma.
      const held = text === undefined ? [] : [Buffer.from(text.slice(1))];
      for (const reader of seated) {
        const header = headerOf(report, reader.member, reader.base);
        found.set(reader, { header, torn: report.torn, tables: changed, held });
      }
    }
    return found;
  }
}

/** The ops of each seat, each on a line of its own, as COPY has them. */
function textsBySeat(ops: readonly SeatedLine[]): ReadonlyMap<SeatedLine['seat'], string> {
  const texts = new Map<SeatedLine['seat'], string>();
  for (const { seat, line } of ops) texts.set(seat, `${texts.get(seat) ?? ''}${line}\n`);
  return texts;
}

/**
 * Sorts readers by what they have not seen of their tables. As far as the window tells, transactions that did not
 * concern those tables do not part readers, though their cookies differ in these.
 */
function groupsOf(asked: readonly DeltaReader[], window: Window | undefined): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const { reader, changed: told } of asked) {
    const { known, base: own, installation } = reader;
    const { tableIDs: ids } = installation;
    const from = window && known.baseIn(window);
    const gap = window?.lists(ids) && window.reaches(from!) ? window.since(from!, ids) : undefined;
    const base = gap?.base ?? own;
    // A statement of the reader's own may have seen more than the window's newest look.
    const changed = [...(gap?.changed ?? []), ...told];
    if (!isSmall(changed)) continue;
    const group: Group = groups.get(base.text) ?? { base, rows: new Map(), readers: [] };
    groups.set(base.text, group);
    for (const [table, rows] of changed) group.rows.set(table, Math.max(rows, group.rows.get(table) ?? 0));
    group.readers.push(reader);
  }
  return groups.values();
}

/** Splits a group into those who share a statement. */
function shares({ readers, rows }: Group): Table[][] {
  const tables = new Map<string, Table>();
  for (const reader of readers) {
    const seat = seatOf(reader.views);
    const key = JSON.stringify(seat);
    const table = tables.get(key) ?? { seat, readers: [] };
    tables.set(key, table);
    table.readers.push(reader);
  }
  const logged = [...rows.values()].reduce((sum, count) => sum + count, 0);
  const size = sharedSeats(readers[0]!.views, logged);
  const all = [...tables.values()];
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
