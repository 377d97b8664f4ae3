import { isDeepStrictEqual } from 'node:util';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { type Installation, readAtMoment } from './installation.js';
import { RecordedLayouts } from './layouts/recorded-layouts.js';

/** The age at which the cluster and the tables' shape are read again. A change to either resets clients this soon. */
const maxAgeMs = 1000;

/** Limits each statement: a connection that died silently must not block the next reading. */
const timeoutMs = 5000;

/** An installation, and what has been found out for it. */
export interface Known<Findings> {
  readonly installation: Installation;
  readonly findings: Findings;
}

/** One reading of the installation. */
export interface Reading<Findings> {
  /** No earlier than this, it was what another reading would have found. */
  readonly at: number;
  readonly known: Promise<Known<Findings>>;
}

/** Reads the installation as often as is needed to know what it was a second ago. */
export class Readings<Findings> {
  readonly #db: Database;
  readonly #layouts: RecordedLayouts;
  readonly #begin: () => Findings;
  /** By OID: every table that any view has read. */
  readonly #tables = new Map<number, Table>();
  #read: { at: number; readonly known: Promise<Known<Findings>> } | undefined;
  #known: Known<Findings> | undefined;

  /** @param begin returns the place for what is found out for another installation */
  constructor(db: Database, begin: () => Findings) {
    this.#db = { ...db, query: (statement) => db.query({ timeoutMs, ...statement }) };
    this.#layouts = new RecordedLayouts(this.#db);
    this.#begin = begin;
  }

  /** The newest reading, which may be under way. */
  current(): Reading<Findings> {
    if (!this.#read || Date.now() - this.#read.at > maxAgeMs) {
      const read = { at: Date.now(), known: this.#readAgain() };
      this.#read = read;
      // A fault of the installation may be remembered. If it could not be read, that may be over a moment later.
      read.known.catch((error: unknown) => {
        if (!(error instanceof SetupError)) this.forget(read);
      });
    }
    return this.#read;
  }

  /** Reads again next time, unless there is another reading already. */
  forget(reading: Reading<Findings>): void {
    if (this.#read === reading) this.#read = undefined;
  }

  /**
   * Nothing has been committed between two times of the clock: what was read since the first is as good as if it had been
   * read at the second.
   */
  remained(since: number, until: number): void {
    if (this.#read && this.#read.at >= since) this.#read.at = Math.max(this.#read.at, until);
  }

  /** Another pull may have added the tables in the meantime: then the reading that it started serves this one too. */
  follow(tables: readonly Table[]): void {
    const added = tables.filter((table) => !this.#tables.has(table.oid));
    for (const table of added) this.#tables.set(table.oid, table);
    if (added.length > 0) this.#read = undefined;
  }

  /**
   * Mostly, nothing has changed, and what is known remains true. What has been read is given up then: kept until the next
   * reading, it would be old enough to be among what takes the longest to collect.
   */
  async #readAgain(): Promise<Known<Findings>> {
    const { installation: read, moment } = await readAtMoment(this.#db, [...this.#tables.values()]);
    const last = this.#known;
    const remains = last !== undefined && isDeepStrictEqual(last.installation, read);
    const before = last?.installation.secrets;
    // What is known of cookies is kept by the secrets, whatever becomes of the tables.
    const secrets = isDeepStrictEqual(before, read.secrets) ? before! : read.secrets;
    const installation = remains ? { ...last.installation } : { ...read, secrets };
    await this.#layouts.follow(installation.tables, moment);
    this.#known = { installation, findings: remains ? last.findings : this.#begin() };
    return this.#known;
  }
}
