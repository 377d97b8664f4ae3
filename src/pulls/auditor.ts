/** Checks from time to time, for a sample of clients, whether they hold what their views show. */
import type { Database } from '../db/database.js';
import type { Bound } from '../installation/current-installation.js';
import { describeError, type Logger } from '../log.js';
import { type Audit, decodeAudit, sampleOf } from '../protocol/audit.js';
import { add, type Difference, differenceOf, noRows } from '../protocol/checksum.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { type Checksums, findRows, transactionsSince } from '../store/patches/checksums.js';
import type { Checked } from '../store/patches/patch-sql.js';
import type { BoundView } from '../view/client-views.js';

/** Of this many deltas of a sampled client, the last one has its result compared with the full views. */
const deltasPerComparison = 5;
/** The most transactions that are listed in one line of the log. */
const mostTransactions = 20;

const repeatedKeys = 'Rows of a view share a key but differ; the client is reset. Make the key identify a row';

/** What a server's audits have found since it started. */
export interface AuditState {
  /** How many times a client's data was compared with its views. */
  readonly compared: number;
  /** How many times they differed. */
  readonly differences: number;
}

/** What the client's next cookie says about it; or, for each view, in which rows the client differs from the view. */
export type Audited = { readonly audit: Audit } | { readonly differences: readonly (Difference | undefined)[] };

/** A difference, and where it was found. */
export interface Finding extends Pick<Bound, 'installation' | 'views'> {
  readonly differences: readonly (Difference | undefined)[];
  /** The snapshot at which the client was last right. */
  readonly since: Snapshot;
  readonly snapshot: Snapshot;
  readonly log: Logger;
}

/** Audits sampled clients, and counts the results. */
export class Auditor {
  readonly #db: Database;
  readonly #fraction: number;
  #compared = 0;
  #differences = 0;

  /** @param fraction the fraction of client groups that are sampled, from 0 to 1 */
  constructor(db: Database, fraction: number) {
    this.#db = db;
    this.#fraction = fraction;
  }

  state(): AuditState {
    return { compared: this.#compared, differences: this.#differences };
  }

  /** Whether a cookie that comes with all data should say what the client then holds. */
  samples(clientGroupID: string, secret: string): boolean {
    return this.#fraction > 0 && sampleOf(clientGroupID, secret) < this.#fraction;
  }

  /**
   * @param text the audit that a cookie contains
   * @param places if the views are others than the cookie's: where each of them is among those; undefined if it is not
   */
  auditOf(text: string, places?: readonly (number | undefined)[]): Audit | null {
    if (this.#fraction === 0) return null;
    const audit = decodeAudit(text);
    if (!places) return audit;
    const { checksums } = audit;
    return { ...audit, checksums: places.map((place) => (place === undefined ? noRows : checksums[place]!)) };
  }

  /** @param checksums those that came with a delta to this snapshot */
  next(audit: Audit, checksums: Checksums, snapshot: Snapshot): Audited {
    const { whole } = checksums;
    const held = audit.checksums.map((checksum, i) => add(checksum, checksums.changes![i]!));
    if (!whole) return { audit: { ...audit, deltas: audit.deltas + 1, checksums: held } };
    this.#compared++;
    const differences = held.map((checksum, i) => differenceOf(checksum, whole[i]!));
    if (differences.every((difference) => !difference))
      return { audit: { deltas: 0, since: snapshot, checksums: whole } };
    this.#differences++;
    return { differences };
  }

  /** Logs what an operator needs to know. Never rejects. */
  async report({ differences, ...finding }: Finding): Promise<void> {
    for (const [i, difference] of differences.entries()) {
      if (difference) await this.#reportOne(finding.views[i]!, difference, finding);
    }
  }

  async #reportOne(bound: BoundView, difference: Difference, finding: Omit<Finding, 'differences'>): Promise<void> {
    const { installation, since, snapshot, log } = finding;
    const tables = installation.tables.filter(({ oid }) => bound.view.occurrenceTables.includes(oid));
    const { surplus, missing, isWhole } = difference;
    const known = { view: bound.view.name, since: since.text, snapshot: snapshot.text, isWhole };
    const message = "A client's data does not match its view; the client is reset";
    try {
      const found = await findRows(this.#db, bound, { tables, base: since }, [...surplus, ...missing]);
      const keysOf = (hashes: readonly number[]) => hashes.map((hash) => found.keys.get(hash) ?? null);
      const transactions = await transactionsSince(this.#db, tables, since, mostTransactions);
      const fields = { ...known, surplus: keysOf(surplus), missing: keysOf(missing), transactions };
      const { repeated } = found;
      if (repeated.length === 0 || bound.view.choosesByKey) log.error(fields, message);
      else log.error({ ...fields, repeated }, repeatedKeys);
    } catch (error) {
      log.error({ ...known, surplus: surplus.length, missing: missing.length, error: describeError(error) }, message);
    }
  }
}

/** Which checksums a sampled client's next delta must come with. */
export function checkedFor(audit: Audit): Checked {
  return audit.deltas + 1 < deltasPerComparison ? 'changes' : 'whole';
}
